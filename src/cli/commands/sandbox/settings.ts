import { settingsGet } from '../settings/get.js';
import { settingsSet } from '../settings/set.js';
import { addDataOption, sandboxStore } from './data.js';

const owner = { command: 'urtuu sandbox settings', addDataOption, open: sandboxStore };

export const sandboxSettingsGet = settingsGet(owner);
export const sandboxSettingsSet = settingsSet(owner);
