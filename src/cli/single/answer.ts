import { normalizeAddress, normalNumber, parseUrl } from '../../contract/index.js';
import type { Context } from '../context.js';
import { CliError, refusedError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Printer } from '../output/printer.js';

export interface Single {
  channel: 'sms' | 'email';
  to: string;
}

/** Whether the answer is about this message. A service may have erased the recipient of an old one. */
export function isAbout(sent: { to: string; channel?: string }, { channel, to }: Single): boolean {
  if (sent.channel !== undefined && sent.channel !== channel) return false;
  return sent.to === '' || canonicalRecipient(sent.to) === canonicalRecipient(to);
}

/** A form in which recipients can be compared: services write numbers and domains differently. */
export function canonicalRecipient(to: string): string {
  const number = normalNumber(to);
  if (number !== null) return number;
  const address = normalizeAddress(to) ?? to;
  const at = address.lastIndexOf('@');
  const domain = at < 0 ? null : parseUrl(`http://${address.slice(at + 1)}`);
  return (domain === null ? address : `${address.slice(0, at)}@${domain.hostname}`).toLowerCase();
}

export function keyUsed(
  printer: Pick<Printer, 'recipient'>,
  sent: { id: string; to: string; channel?: string },
  single: Single,
): CliError {
  const by = sent.channel !== undefined && sent.channel !== single.channel ? ` by ${sent.channel}` : '';
  const whose = isAbout(sent, single)
    ? 'another message to the same recipient'
    : `a message to ${printer.recipient(sent.to)}`;
  const earlier = `${sent.to === '' ? 'another message' : whose}${by}`;
  const message = `this idempotency key was used for ${earlier}: nothing was sent to ${printer.recipient(single.to)}`;
  return refusedError('key_used', message, 'Use a new key for a new message.', { id: sent.id });
}

export function keyUsedTwice({ id }: { id: string }): CliError {
  const message = 'this idempotency key was used for two messages, and which one was sent is unknown';
  return new CliError('key_used', exits.doubt, message, {
    hint: 'Ask the recipient, or check the dashboard. Use a new key for every message.',
    details: { id },
  });
}

type AnswerContext = Pick<Context, 'io' | 'network'>;

/** The answer to a send under a new key. */
export function answersAnother(context: AnswerContext, { to }: Single): CliError {
  const recipient = context.io.printer.recipient(to);
  return wrongAnswer(context, `the service answered about a message other than the one to ${recipient}`);
}

/** A batch with fewer recipients than the request. */
export function answersFewer(context: AnswerContext, total: number, asked: number): CliError {
  return wrongAnswer(context, `the service accepted ${total} recipients of ${asked}`);
}

function wrongAnswer({ network }: AnswerContext, message: string): CliError {
  const { idempotencyKey = null } = network.lastExchange ?? {};
  return new CliError('unexpected_response', exits.doubt, message, {
    hint: `It may have been sent. Repeat it with --idempotency-key ${idempotencyKey}, which cannot send it twice.`,
    details: { idempotency_key: idempotencyKey, retryable: true },
  });
}
