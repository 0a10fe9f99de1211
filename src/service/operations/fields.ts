import {
  characters,
  comparedRecipient,
  isOneLine,
  maxEmailBodyBytes,
  maxInvalidEntries,
  maxParts,
  maxSenderNameLength,
  maxSubjectLength,
  measureText,
  mixesAlphabets,
  normalizeAddress,
  normalizeAnyAddress,
  normalNumber,
  type OperatorTable,
  readNumber,
} from '../../contract/index.js';
import { ServiceError } from '../errors/service-error.js';

/** A recipient in its normal form; `operator` is null for an address. */
export interface Recipient {
  to: string;
  operator: string | null;
}

/** The parts of an SMS text, 1 to 5 (POST /v1/sms, rule 4). */
export function partsOf(text: string): number {
  if (text === '') throw invalid('text: must not be empty');
  const { kind, units, parts } = measureText(text);
  if (parts <= maxParts) return parts;
  const alphabet = kind === 'latin' ? 'Latin' : 'Cyrillic';
  throw new ServiceError(
    'message_too_long',
    `text: ${units} ${alphabet} characters do not fit into ${maxParts} parts`,
  );
}

/** A number of a supported operator (POST /v1/sms, rule 1). */
export function readSmsRecipient(written: string, operators: OperatorTable): Recipient {
  const reading = readNumber(written, operators);
  if (reading.kind === 'number') return { to: reading.number, operator: reading.operator };
  if (reading.kind === 'invalid') throw invalid('to: must be a phone number of 8 digits');
  throw new ServiceError('unsupported_number', 'to: no supported operator serves this number');
}

const notAnAddress = (field: string, written: string) =>
  `${field}: must be an email address${mixesAlphabets(written) ? ', and must not mix alphabets' : ''}`;

export function readEmailRecipient(written: string): Recipient {
  const to = normalizeAddress(written);
  if (to === null) throw invalid(notAnAddress('to', written));
  return { to, operator: null };
}

/** Positions named in a message; the field `invalid` has the entries. */
const namedPositions = 5;

/**
 * The recipients of a batch without duplicates, in the order of the list (POST /v1/sms/bulk, rule 2; bulk email likewise).
 */
export function readRecipients(
  written: readonly unknown[],
  read: (entry: string) => Recipient | null,
): Recipient[] {
  const recipients = new Map<string, Recipient>();
  for (const recipient of everyRecipient(written, read)) {
    const same = comparedRecipient(recipient.to);
    recipients.set(same, recipients.get(same) ?? recipient);
  }
  return [...recipients.values()];
}

/** Each entry of a list. Refuses the whole list if an entry of any type is invalid or unsupported. */
export function everyRecipient<Read>(
  written: readonly unknown[],
  read: (entry: string) => Read | null,
): Read[] {
  const refused = new Map<string, number>();
  const recipients: Read[] = [];
  for (const [position, entry] of written.entries()) {
    const recipient = typeof entry === 'string' ? read(entry) : null;
    const shown = typeof entry === 'string' ? entry : JSON.stringify(entry);
    if (recipient !== null) recipients.push(recipient);
    else if (!refused.has(shown)) refused.set(shown, position);
  }
  if (refused.size > 0) throw invalidRecipients(refused);
  return recipients;
}

/** `refused`: each entry with its first position. */
function invalidRecipients(refused: ReadonlyMap<string, number>): ServiceError {
  const positions = [...refused.values()].slice(0, namedPositions).map((position) => `to[${position}]`);
  const more = refused.size > namedPositions ? ` and ${refused.size - namedPositions} more` : '';
  const counted =
    refused.size === 1 ? '1 invalid or unsupported entry' : `${refused.size} invalid or unsupported entries`;
  return new ServiceError('invalid_request', `to: ${counted}: ${positions.join(', ')}${more}`, {
    fields: { invalid: [...refused.keys()].slice(0, maxInvalidEntries) },
  });
}

export function tryNumber(operators: OperatorTable): (entry: string) => Recipient | null {
  return (entry) => {
    const reading = readNumber(entry, operators);
    return reading.kind === 'number' ? { to: reading.number, operator: reading.operator } : null;
  };
}

export function tryAddress(entry: string): Recipient | null {
  const to = normalizeAddress(entry);
  return to === null ? null : { to, operator: null };
}

/** Of any operator, and also an address that nothing is sent to. */
export const tryAnyRecipient = (entry: string): string | null =>
  normalNumber(entry) ?? normalizeAnyAddress(entry);

export interface EmailFields {
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  from_name?: string | undefined;
  reply_to?: string | undefined;
}

/** The field rules of every email (POST /v1/email, fields and rules 1 and 2). */
export function checkEmail({ subject, html, text, from_name, reply_to }: EmailFields): void {
  checkLine('subject', subject);
  if (characters(subject) > maxSubjectLength) {
    throw invalid(`subject: must have at most ${maxSubjectLength} characters`);
  }
  if (!html && !text) throw invalid('html, text: one of them is required and must not be empty');
  if (from_name !== undefined) {
    checkLine('from_name', from_name);
    if (characters(from_name) > maxSenderNameLength)
      throw invalid(`from_name: must have at most ${maxSenderNameLength} characters`);
  }
  if (reply_to !== undefined && normalizeAddress(reply_to) === null)
    throw invalid(notAnAddress('reply_to', reply_to));
  const bytes = Buffer.byteLength(html ?? '') + Buffer.byteLength(text ?? '');
  if (bytes > maxEmailBodyBytes) {
    throw new ServiceError(
      'message_too_long',
      `html, text: ${bytes} bytes together, over the limit of ${maxEmailBodyBytes}`,
    );
  }
}

export function checkLine(field: string, value: string): void {
  if (value.trim() === '') throw invalid(`${field}: must not be empty`);
  if (!isOneLine(value)) throw invalid(`${field}: must be one line without control characters`);
}

export function invalid(message: string): ServiceError<'invalid_request'> {
  return new ServiceError('invalid_request', message);
}
