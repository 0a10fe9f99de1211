import type { EmailResult, SmsResult } from '../../contract/index.js';
import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { appendHistory } from '../history/append.js';
import { deadlineOf, isFinalMessage, notFinal, readUntilFinal, type WaitResult } from '../lookup/wait.js';
import { type MessageRow, sentView } from '../output/views.js';
import { rememberId } from '../recent-ids.js';
import type { SingleSendOptions } from './options.js';
import type { Accepted } from './send.js';
import { ensureShown } from './shown.js';

type FinishContext = Pick<Context, 'options' | 'io' | 'network' | 'config' | 'clock' | 'signal'>;

/** Waits if asked, prints the message, and throws CliError when it failed or is not final. */
export async function finishSend(
  context: FinishContext,
  sent: Accepted<SmsResult | EmailResult>,
  options: SingleSendOptions,
): Promise<void> {
  const { id, to, channel, status } = sent;
  const { idempotencyKey: key = null } = context.network.lastExchange ?? {};
  await appendHistory(context, { command: `${channel} send`, to, channel, id, status, key });
  await rememberId(context.config, id);
  const { state: message, problem } = options.wait
    ? await untilFinal(context, sent, options)
    : { state: sent, problem: null };
  await context.io.print(sentView, message);
  if (message.status === 'failed') throw sendFailed(message);
  if (problem !== null) {
    context.io.warn(`the message was accepted as ${sent.id}; do not send it again`);
    context.io.attach({ id: sent.id });
    throw problem.error;
  }
  if (options.wait && !isFinalMessage(message)) throw notFinal('the message');
  ensureShown(context.io.printer, {
    said: `The message was accepted as ${id}; do not send it again.`,
    look: `urtuu messages get ${id}`,
    details: { id },
  });
}

async function untilFinal(
  context: FinishContext,
  sent: MessageRow,
  options: SingleSendOptions,
): Promise<WaitResult<MessageRow>> {
  const { messages } = await context.network.client();
  const read = async () => ({ ...sent, ...(await messages.get(sent.id)) });
  const deadline = deadlineOf(context, options);
  if (!isFinalMessage(sent)) context.io.note(`Accepted as ${sent.id}; waiting until it is sent.`);
  return context.io.withProgress('Waiting until it is sent', () =>
    readUntilFinal<MessageRow, MessageRow>(context, deadline, sent, isFinalMessage, read),
  );
}

export function sendFailed(message: Pick<MessageRow, 'id' | 'error'>): CliError {
  return new CliError('failed', exits.notSent, 'the message was not sent and was refunded', {
    hint: 'To send it again, use a new idempotency key.',
    details: { id: message.id, ...(message.error ? { cause: message.error.code } : {}) },
  });
}
