import { type SendOptions, UrtuuError } from '../../client/index.js';
import { inDoubtAfter } from '../../client/transport/doubt.js';
import type { EmailResult, SmsResult } from '../../contract/index.js';
import type { Context } from '../context.js';
import { appendFailedSend } from '../history/append.js';
import { answersAnother, canonicalRecipient, isAbout, keyUsed, keyUsedTwice, type Single } from './answer.js';
import { type SingleSendOptions, sendOptionsOf } from './options.js';
import { namingSuppressed } from './suppressed.js';
import type { KeyedMessage } from './used-keys.js';

/** A message as it was accepted, now or earlier under the same key. */
export type Accepted<Result> = Result & { replayed?: true };

export interface SendOutcome<Result> {
  sent: Accepted<Result>;
  /** An earlier request under its key may have sent it; the service may know more about it by now. */
  isRepeat: boolean;
}

/**
 * `earlier`: the message as the release at e5bfb29c would have sent it.
 * Sends one message and checks that the answer is about it: if its key was used for another message, the service
 * answers with that one. Then it throws CliError (`key_used`), and this message was not sent.
 */
export async function sendSingle<Message extends { to: string }, Result extends SmsResult | EmailResult>(
  context: Pick<Context, 'options' | 'io' | 'network' | 'config' | 'clock'>,
  channel: Single['channel'],
  { message, earlier }: { message: Message; earlier: Message },
  options: SingleSendOptions,
  send: (message: Message, options: SendOptions) => Promise<Result>,
): Promise<SendOutcome<Result>> {
  const { io, network } = context;
  const { command = `${channel} send` } = options;
  const single = { channel, to: message.to };
  const contents = [message, earlier].map((each): KeyedMessage => {
    return [channel, { ...each, to: canonicalRecipient(each.to) }];
  });
  // Loaded only where it is needed, because node:crypto takes 2 ms.
  const remember = async (key: string | null | undefined) =>
    key ? (await import('./used-keys.js')).rememberKey(context, key, contents) : null;
  const memory = await remember(options.idempotencyKey);
  const sending = () => io.withProgress('Sending', () => send(message, sendOptionsOf(options)));
  const {
    result: sent,
    replayed,
    attempts,
  } = await network.send(sending).catch(async (error) => {
    if (!(error instanceof UrtuuError)) throw error;
    await appendFailedSend(context, error, { command, to: message.to, channel });
    if (error.inDoubt) {
      // The error prints the client's key, so that the person can repeat the send with it.
      if (memory === null) await remember(error.idempotencyKey);
      throw error;
    }
    // Such a refusal does not resolve the copy that an earlier command sent.
    if (memory?.isOpen && inDoubtAfter(true, error, 'send')) throw Object.assign(error, { inDoubt: true });
    memory?.resolved();
    throw await namingSuppressed(context, error, message.to);
  });
  const isRepeat = replayed || attempts > 1;
  if (!isAbout(sent, single)) {
    memory?.notSent();
    throw options.idempotencyKey === undefined
      ? answersAnother(context, single)
      : keyUsed(io.printer, sent, single);
  }
  if (options.idempotencyKey === undefined || !replayed) {
    memory?.accepted(sent.id);
    return { sent, isRepeat };
  }
  switch (memory?.replayed(sent.id, attempts > 1) ?? 'unknown') {
    case 'other':
      memory?.notSent();
      throw keyUsed(io.printer, sent, single);
    case 'either':
      if (attempts === 1) memory?.notSent();
      throw keyUsedTwice(sent);
    case 'same':
      memory?.accepted(sent.id);
      break;
    case 'unknown':
      // A replay after an attempt without an answer may be the answer to that attempt.
      if (attempts > 1) return { sent, isRepeat };
  }
  return { sent: { ...sent, replayed: true }, isRepeat };
}
