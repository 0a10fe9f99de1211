import type { ExitCode } from './exit-codes.js';
import type { EndSignal } from './platform/signals.js';
import type { Sysexit } from './sendmail/sysexits.js';

/** How a run ended: an exit code (of sendmail, a sysexit), or the signal that the process now dies by. */
export type Exit = ExitCode | Sysexit | EndSignal;
