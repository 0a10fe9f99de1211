import { settingsGet } from '../settings/get.js';
import { settingsSet } from '../settings/set.js';
import { addSandboxOptions, sandboxStore } from './data.js';

const owner = { command: 'urtuu sandbox settings', addOptions: addSandboxOptions, open: sandboxStore };

export const sandboxSettingsGet = settingsGet(owner);
export const sandboxSettingsSet = settingsSet(owner);
