import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Printer } from '../output/printer.js';

/** Throws CliError when standard output failed: its reader, without the result, might send again. */
export function ensureShown(printer: Pick<Printer, 'failure'>, said: string, id: string, look: string): void {
  const { failure } = printer;
  if (failure === null || failure.code === 'EPIPE') return;
  const { code: errno = failure.message } = failure;
  const message = `standard output could not be written: ${errno}`;
  throw new CliError('machine', exits.machine, message, {
    hint: `${said} as ${id}; do not send it again. See: \`urtuu ${look} ${id}\``,
    details: { id, errno },
    cause: failure,
  });
}
