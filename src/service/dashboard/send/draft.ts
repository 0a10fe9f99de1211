import {
  type Channel,
  maxBatchRecipients,
  maxParts,
  measureText,
  type Pricing,
  priceOfSms,
  type TextSize,
} from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import {
  checkEmail,
  invalid,
  type Recipient,
  readEmailRecipient,
  readRecipients,
  readSmsRecipient,
  tryAddress,
  tryNumber,
} from '../../operations/fields.js';
import type { Answer } from '../../operations/operations.js';
import { emailPrice, smsPrice } from '../../operations/pricing.js';
import type { Settings } from '../../settings.js';
import { callerOf, type PageContext } from '../page.js';

/** What stands in the form. */
export interface Draft {
  channel: Channel;
  /** One recipient or a list, as written. */
  to: string;
  /** The entries of each of its lines. */
  lines: readonly (readonly string[])[];
  entries: readonly string[];
  /** Of an email. */
  subject: string;
  text: string;
}

export type FieldName = 'to' | 'subject' | 'text';

/** Why it cannot be sent as it is. */
export interface Trouble {
  /** Null for one of the whole send. */
  field: FieldName | null;
  message: string;
  /** All bad entries of a list. */
  entries?: readonly string[];
}

/** A draft that can be sent. */
export interface Plan {
  recipients: readonly Recipient[];
  /** Of each message. */
  credits: number;
}

export function draftOf(given: Readonly<Record<string, string | null>>): Draft {
  // A browser sends line ends in its own way. No store keeps the other.
  const plain = (name: FieldName) => (given[name] ?? '').replace(/\r\n?/g, '\n').replaceAll('\0', '');
  const channel = given.channel === 'email' ? 'email' : 'sms';
  const to = plain('to');
  // What is copied from address books and documents has characters that nobody sees, and spaces of other kinds.
  const seen = to.replace(/\p{DI}/gu, '').replace(/\p{Zs}/gu, ' ');
  const lines = seen.split('\n').map((line) => line.split(/[,;\t]/).flatMap((each) => each.trim() || []));
  const subject = channel === 'email' ? plain('subject') : '';
  return { channel, to, subject, text: plain('text'), lines, entries: lines.flat() };
}

/** Checks every field by the rules of a send. */
export function planOf(draft: Draft, settings: Settings, now: number): Plan | readonly Trouble[] {
  const { channel, entries, subject, text } = draft;
  const troubles: Trouble[] = [];
  const attempt = <Value>(field: FieldName, read: () => Value): Value | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { invalid: bad } = (error.fields ?? {}) as { invalid?: string[] };
      const all = entries.filter((entry) => readerOf(channel, settings)(entry) === null);
      troubles.push({ field, message: error.message, ...(bad && { entries: [...new Set(all)] }) });
      return undefined;
    }
  };
  const recipients = attempt('to', () => recipientsOf(draft, settings));
  if (channel === 'email') attempt('subject', () => checkEmail({ subject, text: '-' }));
  const price = attempt('text', () => {
    if (channel === 'sms') return smsPrice(settings, text, now);
    checkEmail({ subject: '-', text });
    return emailPrice(settings);
  });
  return recipients && price && troubles.length === 0 ? { recipients, credits: price.credits } : troubles;
}

const readerOf = (channel: Channel, { operators }: Settings) =>
  channel === 'sms' ? tryNumber(operators) : tryAddress;

function recipientsOf({ channel, lines, entries }: Draft, settings: Settings): Recipient[] {
  // Of a table only one column has recipients; an amount in another may look like a number.
  const row = lines.findIndex(({ length }) => 1 < length && length < entries.length);
  if (row >= 0)
    throw invalid(`to: line ${row + 1} has more than one entry; write one per line, or all on one line`);
  if (entries.length > maxBatchRecipients)
    throw invalid(`to: must have at most ${maxBatchRecipients} entries`);
  if (entries.length > 1) return readRecipients(entries, readerOf(channel, settings));
  const [entry = ''] = entries;
  return [channel === 'sms' ? readSmsRecipient(entry, settings.operators) : readEmailRecipient(entry)];
}

/** To one recipient as a single message, to more as a batch. */
export function sendDraft(
  context: PageContext,
  { channel, subject, text }: Draft,
  { recipients }: Plan,
  idempotencyKey: string,
): Promise<Answer> {
  const { operations } = context;
  const call = { caller: callerOf(context), idempotencyKey };
  const all = recipients.map(({ to }) => to);
  const [to = '', ...others] = all;
  if (channel === 'sms')
    return others.length === 0
      ? operations.sendSms({ ...call, params: { to, text } })
      : operations.sendSmsBulk({ ...call, params: { to: all, text } });
  return others.length === 0
    ? operations.sendEmail({ ...call, params: { to, subject, text } })
    : operations.sendEmailBulk({ ...call, params: { to: all, subject, text } });
}

/** The price of a message with one part, two, and so on; of an email there is one. */
export const pricesOf = ({ channel }: Draft, { sms, email }: Pricing): number[] =>
  channel === 'email'
    ? [email.credits_per_message]
    : Array.from({ length: maxParts }, (_, index) =>
        priceOfSms(index + 1, sms.credits_per_part, sms.rate_multiplier),
      );

export const sizeOf = ({ channel, text }: Draft): TextSize | null =>
  channel === 'sms' ? measureText(text) : null;
