import type { Config } from './config/config.js';
import type { Io } from './io.js';
import type { Network } from './network/network.js';
import type { GlobalOptions } from './options.js';
import type { Clock } from './time/clock.js';

/** The parts of the program that a command may touch. */
export interface Context {
  readonly options: Readonly<GlobalOptions>;
  readonly io: Io;
  readonly network: Network;
  readonly config: Config;
  readonly clock: Clock;
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
}
