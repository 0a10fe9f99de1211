import { keyCreation } from '../keys/create.js';
import { keyList } from '../keys/list.js';
import { keyRevocation } from '../keys/revoke.js';

const name = 'urtuu service keys';

export const serviceKeysCreate = keyCreation(name);
export const serviceKeysList = keyList(name);
export const serviceKeysRevoke = keyRevocation(name);
