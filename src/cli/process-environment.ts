import type { FetchLike } from '../client/index.js';
import type { OpenedAdministration, Service, ServiceOptions } from '../service/index.js';
import type { EndSignal } from './platform/signals.js';
import type { Draw } from './terminal/progress.js';
import type { Questions } from './terminal/prompts.js';
import type { InputStream, OutputStream } from './terminal/streams.js';
import type { Clock } from './time/clock.js';

/**
 * Everything outside the program. `main` creates the real one; tests pass their own, and nothing is patched. Absent
 * optional functions use the real thing.
 */
export interface ProcessEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws CliError (exit 13) if the folder was deleted. */
  readonly cwd: string;
  /** Path of the running script, which may be a link. */
  readonly script?: string;
  /** Null for a user without a home, as in a container. */
  readonly home: string | null;
  readonly platform: NodeJS.Platform;
  /** `v20.11.1` */
  readonly nodeVersion: string;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly clock: Clock;
  random(): number;
  /** Whether a person's terminal is its standard input, output or error. */
  isAtTerminal(): boolean;
  /**
   * Calls `listener` for each signal that asks the process to end, `onHangUp` for a SIGHUP that does not; returns a
   * function that stops this.
   */
  onSignal(listener: (signal: EndSignal) => void, onHangUp: () => void): () => void;
  /** Called with a page of help that was asked for and shown. */
  readonly onHelp?: (page: string) => void;
  readonly fetch?: FetchLike;
  readonly openService?: (options: ServiceOptions) => Promise<Service>;
  readonly openAdministration?: (options: ServiceOptions) => Promise<OpenedAdministration>;
  readonly openInBrowser?: (place: string) => Promise<boolean>;
  readonly questions?: Questions;
  readonly draw?: Draw;
}
