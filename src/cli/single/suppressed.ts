import { UrtuuError } from '../../client/index.js';
import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';

/**
 * The error for a recipient on the service's do-not-send list, with its name and the way out; any other error as it is.
 */
export async function namingSuppressed(
  { io, config, network }: Pick<Context, 'io' | 'config' | 'network'>,
  error: unknown,
  to: string,
): Promise<unknown> {
  if (!(error instanceof UrtuuError) || error.code !== 'recipient_suppressed') return error;
  // Loaded late: only errors need it.
  const { isHere } = await import('../printed-error.js');
  const { code, reason = null, status, requestId, attempts } = error;
  const why = reason === null ? '' : `: ${reason}`;
  const isOwner = config.sandbox || isHere(network.lastExchange);
  const way =
    isOwner && !io.printer.mask
      ? `To take it off: ${config.commandLine(['service', 'suppressions', 'remove', to], {})}`
      : 'Ask the owner of the service to take it off.';
  const message = `${io.printer.recipient(to)} is on the do-not-send list${why}`;
  return new CliError(code, exits.input, message, {
    hint: `Nothing was sent. ${way}`,
    details: { reason, status, request_id: requestId, attempts },
    cause: error,
  });
}
