import type { EmailResult, SmsResult } from '../../contract/index.js';
import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { appendHistory } from '../history/append.js';
import { rememberId } from '../history/recent-ids.js';
import {
  isFinalMessage,
  readUntilFinal,
  unknownError,
  type WaitOptions,
  waitingReader,
} from '../lookup/wait.js';
import { type MessageRow, sentView } from '../output/views.js';
import type { SingleSendOptions } from './options.js';
import type { SendOutcome } from './send.js';
import { acceptedAs, ensureShown } from './shown.js';

type FinishContext = Pick<Context, 'options' | 'io' | 'network' | 'config' | 'clock' | 'signal'>;

/**
 * Waits if requested, prints the message, and throws CliError if it failed, is not final or may not have arrived.
 * From here on, no exit code says that nothing was sent.
 */
export async function finishSend(
  context: FinishContext,
  { sent, isRepeat }: SendOutcome<SmsResult | EmailResult>,
  options: SingleSendOptions,
): Promise<void> {
  const { id } = sent;
  const { idempotencyKey: key = null } = context.network.lastExchange ?? {};
  if (sent.replayed)
    context.io.note(
      'This idempotency key was used before: showing the earlier message, nothing new was sent.',
    );
  const known = await recordSend(context, { sent, isRepeat }, options);
  const { message, problem } = options.wait
    ? await readFinal(context, sent, options)
    : { message: known, problem: null };
  await context.io.print(sentView, message);
  if (message.status === 'failed') throw sendFailed(message);
  if (problem !== null) throw problem;
  if (message.delivery === 'unknown') {
    if (options.wait) throw unknownError(1, { id, retryable: false });
    warnOfUnknown(context.io);
  }
  ensureShown(context.io.printer, acceptedAs('message', id, key));
}

/** Records an accepted message. Returns it; without `--wait` a repeated one as it is by now. */
export async function recordSend(
  context: FinishContext,
  { sent, isRepeat }: SendOutcome<SmsResult | EmailResult>,
  options: SingleSendOptions,
): Promise<MessageRow> {
  const { id, to, channel, credits } = sent;
  const { command = `${channel} send` } = options;
  const { idempotencyKey: key = null } = context.network.lastExchange ?? {};
  const known = isRepeat && !options.wait ? await stateNow(context, sent) : sent;
  await appendHistory(context, { command, to, channel, id, status: known.status, key, credits });
  await rememberId(context.config, id);
  return known;
}

/** The answer to a send never says whether it may not have arrived, so even an SMS that is already sent is read. */
export async function readFinal(
  context: FinishContext,
  sent: MessageRow,
  options: WaitOptions,
): Promise<{ message: MessageRow; problem: unknown }> {
  const read = await reading(context, sent);
  const isSent = isFinalMessage(sent);
  if (!isSent) context.io.note(`Accepted as ${sent.id}; waiting until it is sent.`);
  const { state, problem } = await context.io.withProgress('Waiting until it is sent', () =>
    readUntilFinal<MessageRow, MessageRow | null>(
      waitingReader(context, options),
      isSent ? null : sent,
      isFinalMessage,
      read,
    ),
  );
  const message = state ?? sent;
  // A signal ends the command by itself.
  if (problem !== null)
    return { message, problem: context.signal.aborted ? problem.error : unread(sent, problem.error) };
  return { message, problem: state !== null && isFinalMessage(state) ? null : notFinal(sent, state) };
}

/**
 * What a message sent earlier is by now: the service repeats its first answer, and an email that was queued then may
 * have failed. Unchanged, with a warning if that is unknown, if it cannot be read.
 */
export async function stateNow<Sent extends MessageRow>(
  { io, network }: Pick<Context, 'io' | 'network'>,
  sent: Sent,
): Promise<Sent | MessageRow> {
  if (sent.status === 'failed') return sent;
  const { messages } = await network.client();
  try {
    const read = await messages.get(sent.id, { timeout: 5_000, maxRetries: 0 });
    if (read.id !== sent.id) throw new Error('the service answered about another message');
    return { ...sent, ...read };
  } catch (error) {
    if (!isFinalMessage(sent))
      io.warn(`accepted earlier; could not check if it was sent: ${(error as Error).message}`);
    return sent;
  }
}

async function reading({ network }: FinishContext, sent: MessageRow) {
  const { messages } = await network.client();
  return async (): Promise<MessageRow> => ({ ...sent, ...(await messages.get(sent.id)) });
}

/** Running the same command again would send another message. */
const again = ({ id }: MessageRow) =>
  `It is not in doubt: do not send it again. Look again with: \`urtuu messages get ${id} --wait\``;

function notFinal(sent: MessageRow, state: MessageRow | null): CliError {
  const what = state === null ? 'and its outcome could not be read in time' : 'and is not final yet';
  return new CliError('not_final', exits.notFinal, `the message was accepted as ${sent.id}, ${what}`, {
    hint: again(sent),
    details: { id: sent.id, retryable: false },
  });
}

/** The look-up was refused, or failed permanently. */
function unread(sent: MessageRow, error: unknown): CliError {
  const { code = 'fault', status = null, message } = error as Error & { code?: string; status?: number };
  const what = `the message was accepted as ${sent.id}, and its outcome could not be read: ${message}`;
  return new CliError(code, exits.notFinal, what, {
    hint: again(sent),
    details: { id: sent.id, status, retryable: false },
    cause: error,
  });
}

/** Without `--wait`, a send is over once it was accepted. */
export const warnOfUnknown = ({ warn }: Pick<Context['io'], 'warn'>): void =>
  warn('the operator never answered: the message may not have arrived, and is not sent again');

export function sendFailed(
  message: Pick<MessageRow, 'id' | 'error'>,
  anew = 'To send it again, use a new idempotency key.',
): CliError {
  const isSuppressed = message.error?.code === 'recipient_suppressed';
  const hint = isSuppressed ? 'The recipient is on the do-not-send list of the service.' : anew;
  return new CliError('failed', exits.notSent, 'the message was not sent and was refunded', {
    hint,
    details: { id: message.id, ...(message.error ? { cause: message.error.code } : {}) },
  });
}
