import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';

/** Who reads standard output does not learn of what was sent when it cannot be written, and might send it again. */
export function ensureShown(context: Context, said: string, id: string, look: string): void {
  const { failure } = context.io.printer;
  if (failure === null || failure.code === 'EPIPE') return;
  const { code: errno = failure.message } = failure;
  const message = `standard output could not be written: ${errno}`;
  throw new CliError('machine', exits.machine, message, {
    hint: `${said} as ${id}; do not send it again. See: \`urtuu ${look} ${id}\``,
    details: { id, errno },
    cause: failure,
  });
}
