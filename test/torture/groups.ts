import { terminal } from '../terminal/rows.js';
import { bulk } from './bulk-rows.js';
import { codecs } from './carriers/codec-rows.js';
import { gateway } from './carriers/gateway-rows.js';
import { smpp } from './carriers/smpp-rows.js';
import { smtp } from './carriers/smtp-rows.js';
import { clocks } from './clocks/rows.js';
import { cluster } from './cluster/rows.js';
import { csv } from './csv/rows.js';
import { disk } from './disk.js';
import { doubt } from './doubt/rows.js';
import { events } from './events/rows.js';
import { flips } from './flips/rows.js';
import { lanes } from './lanes/rows.js';
import { money } from './money/rows.js';
import { move } from './move/rows.js';
import { network } from './network/rows.js';
import { nodes } from './nodes.js';
import { print } from './print/rows.js';
import { quiet } from './quiet/rows.js';
import type { Group } from './row.js';
import { service } from './service/rows.js';
import { suppressed } from './suppressed/rows.js';
import { syscalls } from './syscalls.js';
import { text } from './text/rows.js';
import { turns } from './turns/rows.js';

/** Everything that `npm run torture` plays, in its order. */
export const groups: readonly Group[] = [
  bulk,
  print,
  doubt,
  syscalls,
  clocks,
  disk,
  flips,
  service,
  cluster,
  lanes,
  turns,
  move,
  network,
  smpp,
  smtp,
  gateway,
  codecs,
  money,
  suppressed,
  quiet,
  events,
  csv,
  text,
  terminal,
  nodes,
];
