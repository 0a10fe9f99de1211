import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Printer } from '../output/printer.js';

/** What happened, for when the result could not be printed. */
export interface Hidden {
  /** What happened, and that it must not happen again. */
  said: string;
  /** The command that shows it. */
  look: string;
  details: Record<string, unknown>;
}

/** Throws CliError when standard output failed: its reader, without the result, might send again. */
export function ensureShown(printer: Pick<Printer, 'failure'>, { said, look, details }: Hidden): void {
  const { failure } = printer;
  if (failure === null || failure.code === 'EPIPE') return;
  const { code: errno = failure.message } = failure;
  throw new CliError('machine', exits.machine, `standard output could not be written: ${errno}`, {
    hint: `${said} See: \`${look}\``,
    details: { ...details, errno },
    cause: failure,
  });
}
