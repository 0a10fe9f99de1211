import type { ExitCode } from './exit-codes.js';
import type { EndSignal } from './platform/signals.js';
import type { Sysexit } from './sendmail/sysexits.js';

/** How a run ended: an exit code (for sendmail, a sysexit), or the signal by which the process now dies. */
export type Exit = ExitCode | Sysexit | EndSignal;
