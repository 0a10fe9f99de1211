import { type EmailResult, normalizeAddress, readNumber, type SmsResult } from '../../contract/index.js';
import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { type MessageRow, messageView } from '../output/views.js';
import { type Awaited, deadlineOf, notFinal, readUntilFinal } from '../reading/wait.js';
import { remember } from '../recent.js';
import type { SingleSendOptions } from './options.js';

export const isFinalMessage = ({ status }: { status: string }): boolean =>
  status === 'sent' || status === 'failed';

/** After a single send: waits if asked, shows the message, and ends as its status deserves. */
export async function finishSend(
  context: Context,
  sent: SmsResult | EmailResult,
  to: string,
  options: SingleSendOptions,
): Promise<void> {
  await remember(context, sent.id);
  warnOfReplay(context, sent, to);
  const { state: message, problem } = options.wait
    ? await untilFinal(context, sent, options)
    : { state: sent, problem: null };
  await context.print(messageView, message);
  if (message.status === 'failed') throw failed(message);
  if (problem !== null) throw problem.error;
  if (options.wait && !isFinalMessage(message)) throw notFinal('the message');
}

async function untilFinal(
  context: Context,
  sent: MessageRow,
  options: SingleSendOptions,
): Promise<Awaited<MessageRow>> {
  const { messages } = await context.client();
  const read = async () => ({ ...sent, ...(await messages.get(sent.id)) });
  const deadline = deadlineOf(context, options);
  if (!isFinalMessage(sent)) context.note(`Accepted as ${sent.id}; waiting until it is sent.`);
  return context.during('Waiting until it is sent', () =>
    readUntilFinal<MessageRow, MessageRow>(context, deadline, sent, isFinalMessage, read),
  );
}

function failed(message: MessageRow): CliError {
  return new CliError('failed', exits.notSent, 'the message was not sent, and refunded', {
    hint: 'To try again, use a new idempotency key.',
    details: { id: message.id, ...(message.error ? { cause: message.error.code } : {}) },
  });
}

/** An old idempotency key gives an old answer, perhaps that of a message to somebody else. */
function warnOfReplay(context: Context, sent: { to: string }, to: string): void {
  if (normalized(sent.to) !== normalized(to)) {
    context.warn(
      `this idempotency key was used for a message to ${context.printer.recipient(sent.to)}: nothing was sent to ${context.printer.recipient(to)}`,
    );
  } else if (context.lastExchange?.replayed) {
    context.note(
      'This idempotency key was used before: this is the message of that time, nothing new was sent.',
    );
  }
}

function normalized(to: string): string {
  const reading = readNumber(to);
  return reading.kind === 'number' ? reading.number : (normalizeAddress(to) ?? to);
}
