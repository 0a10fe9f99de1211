import type { Message, Urtuu } from '../../../client/index.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { type MessageLister, messagesOfBatch } from '../../reader/batch-messages.js';
import { readOnce } from '../../reader/reader.js';
import { counted, grouped } from '../../text/wording.js';

type Needs = Pick<Context, 'io' | 'clock'>;
type Batches = Pick<Urtuu['batches'], 'get' | 'messages'>;
type Lists = MessageLister['batches']['messages'];

/** Milliseconds before each check: a recipient over a cap, or suppressed, fails within a second. */
const pauses = [0, 500, 1_000];
const oneTry = { timeout: 5_000, maxRetries: 0 };

/**
 * Throws CliError if recipients of an accepted batch fail at once, or failed before it was repeated. What it cannot
 * read does not count as failed. `anew`: how to send it again.
 */
export async function checkFailed(
  context: Needs,
  batches: Batches,
  { id, total, anew }: { id: string; total: number; anew: string },
): Promise<void> {
  const { io } = context;
  const failed = await failedIn(context, batches, id).catch((error: Error) => {
    const whom = counted(total, 'recipient');
    io.warn(`accepted for ${whom}; could not check for immediate failures: ${error.message}`);
    return { count: 0, messages: [] };
  });
  if (failed.count === 0) return;
  const names = failed.messages.map(
    ({ to, error }) => `${io.printer.recipient(to)}${error === null ? '' : ` (${error.code})`}`,
  );
  const which = names.length === 0 ? '' : `: ${names.join(', ')}`;
  const isSuppressed = (each: Message) => each.error?.code === 'recipient_suppressed';
  const mayRepeat = failed.messages.length === 0 || !failed.messages.every(isSuppressed);
  throw new CliError(
    failed.count < total ? 'partly' : 'not_sent',
    failed.count < total ? exits.partly : exits.notSent,
    `${grouped(failed.count)} of ${counted(total, 'recipient')} failed${which}`,
    {
      hint:
        failed.count < total
          ? `The others were accepted.${mayRepeat ? ' Send it again only to those that failed.' : ''}`
          : `They were refunded.${mayRepeat ? ` ${anew}` : ''}`,
      details: { batch_id: id },
    },
  );
}

async function failedIn(
  { clock }: Needs,
  batches: Batches,
  id: string,
): Promise<{ count: number; messages: readonly Message[] }> {
  // A service may omit the figure.
  let count: number | undefined;
  for (const pause of pauses) {
    if (pause > 0) await clock.sleep(pause);
    const { status, failed } = await batches.get(id, oneTry);
    count = failed;
    if (status !== 'processing') break;
  }
  if (!count) return { count: 0, messages: [] };
  const lister = { batches: { messages: (...at: Parameters<Lists>) => batches.messages(...at, oneTry) } };
  const messages = await messagesOfBatch(lister, { read: readOnce }, id);
  // A service without that list reports how many.
  const listed = Array.isArray(messages) ? messages : [];
  return { count, messages: listed.filter(({ status }) => status === 'failed') };
}
