import { join } from 'node:path';
import { inDoubtAfter } from '../../client/doubt.js';
import { type SendOptions, UrtuuError } from '../../client/index.js';
import { type EmailResult, normalizeAddress, readNumber, type SmsResult } from '../../contract/index.js';
import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { type SingleSendOptions, sendOptionsOf } from './options.js';
import type { UsedKey } from './used-keys.js';

/** A message as it was accepted, now or earlier under the same key. */
export type Accepted<Result> = Result & { replayed?: true };

interface Single {
  channel: 'sms' | 'email';
  to: string;
}

/**
 * Sends one message, and makes sure that the answer is about it: a key that was used for another message gives that
 * one's answer, and this one is not sent. Throws `key_used` then.
 */
export async function sendSingle<Message extends { to: string }, Result extends SmsResult | EmailResult>(
  context: Context,
  channel: Single['channel'],
  message: Message,
  options: SingleSendOptions,
  send: (message: Message, options: SendOptions) => Promise<Result>,
): Promise<Accepted<Result>> {
  const single = { channel, to: message.to };
  const about = [channel, { ...message, to: normalized(message.to) }];
  const memory = await memoryOf(context, options, about);
  let requests = 0;
  const forget = context.network.onExchange(({ kind, requestSent }) => {
    if (kind === 'sending' && requestSent) requests += 1;
  });
  let sent: Result;
  try {
    sent = await context.io.withProgress('Sending', () => send(message, sendOptionsOf(options)));
  } catch (error) {
    if (!(error instanceof UrtuuError)) throw error;
    if (error.inDoubt) {
      // The key that the client made is about to be printed, to be given again.
      if (memory === null)
        await memoryOf(context, { idempotencyKey: error.idempotencyKey ?? undefined }, about);
      throw error;
    }
    // A refusal of the moment says nothing of the copy that an earlier command sent.
    if (memory?.isOpen && inDoubtAfter(true, error, 'send')) throw Object.assign(error, { inDoubt: true });
    note(context, () => memory?.settled());
    throw error;
  } finally {
    forget();
  }
  const replayed = context.network.lastExchange?.replayed === true;
  if (!isAbout(sent, single)) {
    note(context, () => memory?.notSent());
    throw options.idempotencyKey === undefined
      ? aboutAnother(context, single)
      : keyUsed(context, sent, single);
  }
  if (options.idempotencyKey === undefined || !replayed) {
    note(context, () => memory?.accepted());
    return sent;
  }
  switch (memory?.replayed(requests > 1) ?? 'unknown') {
    case 'other':
      note(context, () => memory?.notSent());
      throw keyUsed(context, sent, single);
    case 'either':
      throw usedTwice(sent);
    case 'same':
      note(context, () => memory?.accepted());
      break;
    case 'unknown':
      // A replay after an attempt without an answer may be the answer to that attempt.
      if (requests > 1) return sent;
  }
  context.io.note(
    'This idempotency key was used before: this is the message of that time, nothing new was sent.',
  );
  return { ...sent, replayed: true };
}

/** The memory of a key that was given; none of one that the client makes, which nobody can give again. */
async function memoryOf(
  context: Context,
  { idempotencyKey }: { idempotencyKey?: string | undefined },
  message: unknown,
): Promise<UsedKey | null> {
  if (idempotencyKey === undefined) return null;
  // The sandbox has one account; the key of its commands is another in every process.
  const account = context.config.sandbox
    ? 'sandbox'
    : [(await context.config.settings()).baseUrl, await context.network.apiKey()];
  try {
    const { UsedKeys } = await import('./used-keys.js');
    const keys = await UsedKeys.open(join(context.config.stateDirectory, 'used-keys'));
    return keys?.use(account, idempotencyKey, message) ?? null;
  } catch (error) {
    forgotten(context, error);
    return null;
  }
}

function note(context: Context, write: () => void): void {
  try {
    write();
  } catch (error) {
    forgotten(context, error);
  }
}

/** A machine without a place for it sends all the same. */
function forgotten(context: Context, error: unknown): void {
  if (context.options.verbose)
    context.io.note(`the key could not be remembered: ${(error as Error).message}`);
}

/** The service may have erased the recipient of an old message; then there is nothing to compare. */
export function isAbout(sent: { to: string; channel?: string }, { channel, to }: Single): boolean {
  if (sent.channel !== undefined && sent.channel !== channel) return false;
  return sent.to === '' || normalized(sent.to) === normalized(to);
}

/** As it is compared: services write numbers and domains in their own way. */
function normalized(to: string): string {
  const reading = readNumber(to);
  if (reading.kind === 'number') return reading.number;
  const address = normalizeAddress(to) ?? to;
  const at = address.lastIndexOf('@');
  if (at < 0 || !URL.canParse(`http://${address.slice(at + 1)}`)) return address.toLowerCase();
  return `${address.slice(0, at)}@${new URL(`http://${address.slice(at + 1)}`).hostname}`.toLowerCase();
}

function keyUsed(
  context: Context,
  sent: { id: string; to: string; channel?: string },
  { to, channel }: Single,
) {
  const other = sent.channel !== undefined && sent.channel !== channel ? ` by ${sent.channel}` : '';
  const before = `a message to ${context.io.printer.recipient(sent.to)}${other}`;
  const what = isAbout(sent, { to, channel }) ? `another message to the same recipient` : before;
  const message = `this idempotency key was used for ${what}: nothing was sent to ${context.io.printer.recipient(to)}`;
  return new CliError('key_used', exits.refused, message, {
    hint: 'Use a new key for a new message.',
    details: { id: sent.id },
  });
}

function usedTwice({ id }: { id: string }): CliError {
  const message =
    'this idempotency key was used for two messages, and no answer tells which of them was sent';
  return new CliError('key_used', exits.doubt, message, {
    hint: 'Ask the recipient, or see the dashboard. Use a new key for every message.',
    details: { id },
  });
}

/** Under a key that nobody else can have. */
export function aboutAnother(context: Context, { to }: Single): CliError {
  const recipient = context.io.printer.recipient(to);
  return inDoubt(context, `the service answered about another message than the one to ${recipient}`);
}

/** A batch for fewer than it was asked for. */
export function aboutOthers(context: Context, total: number, asked: number): CliError {
  return inDoubt(context, `the service took a message for ${total} recipients, and not for ${asked}`);
}

function inDoubt(context: Context, message: string): CliError {
  const { idempotencyKey = null } = context.network.lastExchange ?? {};
  return new CliError('unexpected_response', exits.doubt, message, {
    hint: `It may have been sent. Repeat it with --idempotency-key ${idempotencyKey}: that cannot send it twice.`,
    details: { idempotency_key: idempotencyKey, retryable: true },
  });
}
