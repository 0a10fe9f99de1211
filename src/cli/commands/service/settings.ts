import { settingsGet } from '../settings/get.js';
import { settingsSet } from '../settings/set.js';
import { addStoreOptions, ownedStore } from './store.js';

const owner = { command: 'urtuu service settings', addOptions: addStoreOptions, open: ownedStore };

export const serviceSettingsGet = settingsGet(owner);
export const serviceSettingsSet = settingsSet(owner);
