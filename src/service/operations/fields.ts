import {
  maxBatchRecipients,
  maxEmailBodyBytes,
  maxInvalidEntries,
  maxParts,
  maxSubjectLength,
  measureText,
  normalizeAddress,
  type OperatorTable,
  readNumber,
} from '../../contract/index.js';
import { ServiceError } from '../service-error.js';

/** A recipient in its normal form; `operator` is null for an address. */
export interface Recipient {
  to: string;
  operator: string | null;
}

/** The parts of an SMS text; refuses an empty one and one over the limit (POST /v1/sms, rule 4). */
export function partsOf(text: string): number {
  checkText('text', text);
  if (text === '') throw invalid('text must not be empty');
  const { kind, units, parts } = measureText(text);
  if (parts <= maxParts) return parts;
  throw new ServiceError(
    'message_too_long',
    `text has ${units} ${kind === 'latin' ? 'Latin' : 'Cyrillic'} characters, which is over ${maxParts} parts`,
  );
}

/** A number that an operator serves (POST /v1/sms, rule 1). */
export function readSmsRecipient(written: string, operators: OperatorTable): Recipient {
  const reading = readNumber(written, operators);
  if (reading.kind === 'number') return { to: reading.number, operator: reading.operator };
  if (reading.kind === 'invalid') throw invalid('to must be a telephone number of 8 digits');
  throw new ServiceError('unsupported_number', 'to is a number that no supported operator serves');
}

export function readEmailRecipient(written: string): Recipient {
  const to = normalizeAddress(written);
  if (to === null) throw invalid('to must be an email address');
  return { to, operator: null };
}

/** Places that one message names; `invalid` has the entries. */
const namedPlaces = 5;

/**
 * The recipients of a batch, each once, in the order they were first written. Refuses the whole list when an
 * entry, of whatever type, is no number or address to send to (POST /v1/sms/bulk, rule 2; bulk email likewise).
 */
export function readRecipients(
  written: readonly unknown[],
  read: (entry: string) => Recipient | null,
): Recipient[] {
  if (written.length === 0) throw invalid('to must have at least one recipient');
  if (written.length > maxBatchRecipients) {
    throw invalid(`to has ${written.length} recipients; at most ${maxBatchRecipients} go in one request`);
  }
  const recipients = new Map<string, Recipient>();
  const refused = new Map<string, number>();
  for (const [place, entry] of written.entries()) {
    const recipient = typeof entry === 'string' ? read(entry) : null;
    const shown = typeof entry === 'string' ? entry : JSON.stringify(entry);
    if (recipient !== null) recipients.set(recipient.to, recipients.get(recipient.to) ?? recipient);
    else if (!refused.has(shown)) refused.set(shown, place);
  }
  if (refused.size > 0) throw cannotBeSentTo(refused);
  return [...recipients.values()];
}

/** Takes the entries, each with its place. */
function cannotBeSentTo(refused: ReadonlyMap<string, number>): ServiceError {
  const places = [...refused.values()].slice(0, namedPlaces).map((place) => `to[${place}]`);
  const more = refused.size > namedPlaces ? ` and ${refused.size - namedPlaces} more` : '';
  return new ServiceError(
    'invalid_request',
    `to has ${refused.size} ${refused.size === 1 ? 'entry' : 'entries'} that cannot be sent to: ${places.join(', ')}${more}`,
    { fields: { invalid: [...refused.keys()].slice(0, maxInvalidEntries) } },
  );
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

export interface EmailFields {
  subject: string;
  html?: string;
  text?: string;
  from_name?: string;
  reply_to?: string;
}

/** Checks what every email has to keep to (POST /v1/email, fields and rules 1 and 2). */
export function checkEmail({ subject, html, text, from_name, reply_to }: EmailFields): void {
  checkLine('subject', subject);
  if ([...subject].length > maxSubjectLength) {
    throw invalid(`subject is over ${maxSubjectLength} characters`);
  }
  if (!html && !text) throw invalid('html or text must be given and must not be empty');
  checkText('html', html ?? '');
  checkText('text', text ?? '');
  if (from_name !== undefined) checkLine('from_name', from_name);
  if (reply_to !== undefined && normalizeAddress(reply_to) === null) {
    throw invalid('reply_to must be an email address');
  }
  const bytes = Buffer.byteLength(html ?? '') + Buffer.byteLength(text ?? '');
  if (bytes > maxEmailBodyBytes) {
    throw new ServiceError(
      'message_too_long',
      `html and text together are ${bytes} bytes; at most ${maxEmailBodyBytes} are allowed`,
    );
  }
}

export function checkLine(field: string, value: string): void {
  checkText(field, value);
  if (value.trim() === '') throw invalid(`${field} must not be empty`);
  if (!isOneLine(value)) throw invalid(`${field} must be one line without control characters`);
}

/** No line breaks, no other control characters. */
export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text);
}

/** Half of a surrogate pair can be neither stored nor delivered. */
export function checkText(field: string, value: string): void {
  if (/\p{Cs}/u.test(value)) throw invalid(`${field} is not well-formed Unicode`);
}

export function invalid(message: string): ServiceError<'invalid_request'> {
  return new ServiceError('invalid_request', message);
}
