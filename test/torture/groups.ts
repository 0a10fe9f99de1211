import { bulk } from './bulk-rows.js';
import { csv } from './csv/rows.js';
import { money } from './money/rows.js';
import { network } from './network/rows.js';
import type { Group } from './row.js';
import { service } from './service/rows.js';
import { text } from './text/rows.js';

/** Everything that `npm run torture` plays, in its order. */
export const groups: readonly Group[] = [service, bulk, network, text, csv, money];
