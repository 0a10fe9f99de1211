import { createHash } from 'node:crypto';
import type { Address, Attachment, Email, Mailbox } from 'postal-mime';
import {
  characters,
  type EmailBulkParams,
  isOneLine,
  maxSenderNameLength,
  maxSubjectLength,
  normalizeAddress,
} from '../../contract/index.js';
import { visible } from '../bulk/input/repair.js';
import { inputError } from '../errors.js';
import { parseMail } from './charset.js';
import { withBody } from './headless.js';
import { type Addressed, recipientsOf } from './recipients.js';
import { keyOfMessage } from './sysexits.js';

export interface Envelope {
  params: EmailBulkParams;
  /**
   * Derived from the Message-ID and the content, so that the same message is not sent twice. Null without a Message-ID.
   */
  idempotencyKey: string | null;
  /** Additional addresses in Reply-To, and invalid ones. */
  unusedReplyTo: readonly string[];
  /** What was changed so that it can be sent. */
  repairs: readonly string[];
}

/**
 * Reads an internet message; `otherName` is the sender's name if there is no From. Throws CliError for content that the
 * service cannot send.
 */
export async function readMessage(raw: Uint8Array, addressed: Addressed, otherName = ''): Promise<Envelope> {
  const { message: whole, strayRecipients } = withBody(raw);
  if (addressed.inHeaders && strayRecipients !== null) {
    throw inputError(
      `'${visible(strayRecipients)}' may name a recipient, but is not in To, Cc or Bcc`,
      'Begin continuation lines of a header with a space, and end the headers with an empty line.',
    );
  }
  const { mail, guessed } = await parseMail(whole).catch((error: Error) => {
    throw inputError(
      `not an email message: ${error.message}`,
      'A message has headers, an empty line and a text.',
    );
  });
  const to = await recipientsOf(mail, addressed, guessed.length > 0);
  const [other] = mail.attachments;
  if (other !== undefined) {
    throw inputError(
      `cannot send the part ${nameOf(other)}`,
      'Only text and HTML can be sent. Send a link instead.',
    );
  }
  const writtenName = mail.from === undefined ? otherName : mailboxes(mail.from)[0]?.name;
  const { replyTo, unused } = replyToOf(mail);
  const repairs = guessed.map(
    (charset) => `the message is not in the charset that it names, or names none: read as ${charset}`,
  );
  const note = (repair: string) => repairs.push(repair);
  const senderName = oneLine(writtenName ?? '', 'sender name', maxSenderNameLength, note);
  const common = {
    to,
    subject: oneLine(mail.subject ?? '', 'subject', maxSubjectLength, note) || '(no subject)',
    ...(senderName === '' ? {} : { from_name: senderName }),
    ...(replyTo === undefined ? {} : { reply_to: replyTo }),
  };
  const params = { ...common, ...bodiesOf(mail, note) };
  return { params, idempotencyKey: keyOf(mail, params), unusedReplyTo: unused, repairs };
}

/** Folded by a tab, with control characters, or too long: the sending program cannot fix it. */
function oneLine(written: string, name: string, limit: number, note: (repair: string) => void): string {
  const plain = written
    .replace(/\s+/g, (blanks) => (/[\t-\r\u2028\u2029]/.test(blanks) ? ' ' : blanks))
    .trim();
  const clean = isOneLine(plain) ? plain : plain.replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
  if (clean !== plain) note(`the ${name} has control characters: replaced by spaces`);
  if (characters(clean) <= limit) return clean;
  note(`the ${name} has ${characters(clean)} characters: shortened to ${limit}`);
  return `${[...clean].slice(0, limit - 1).join('')}…`;
}

/**
 * The service accepts one address; without a Reply-To header, it is that of From. Unlike recipients, they are read as
 * leniently as the parser does.
 */
function replyToOf({ replyTo = [], from, headers }: Email): { replyTo?: string; unused: string[] } {
  const written = mailboxes(...replyTo).map(({ address, name }) => address || name);
  const candidates = [
    ...written.map((address) => ({ address, header: 'reply-to' })),
    { address: mailboxes(from)[0]?.address ?? '', header: 'from' },
  ];
  const first = candidates.find(
    ({ address, header }) =>
      normalizeAddress(address) !== null &&
      headers.some(({ key, value }) => key === header && hasDomainOf(address, value)),
  )?.address;
  const unused = written.filter((address) => address !== first);
  return first === undefined ? { unused } : { replyTo: first, unused };
}

/**
 * The parser reads `user@good.mn(x)evil.mn` as one domain that nobody wrote. Where no `@` is written, encoded words have
 * the address.
 */
const hasDomainOf = (address: string, value: string) =>
  !value.includes('@') || value.includes(address.slice(address.lastIndexOf('@')));

const mailboxes = (...addresses: (Address | undefined)[]): Mailbox[] =>
  addresses.flatMap((each) => (each === undefined ? [] : (each.group ?? [each]))).filter(hasSomething);
const hasSomething = ({ address, name }: Mailbox) => address !== '' || name !== '';

/** `application/pdf 'report.pdf'` */
const nameOf = ({ mimeType, filename }: Attachment) => (filename ? `${mimeType} '${filename}'` : mimeType);

function bodiesOf(
  { text = '', html = '' }: Email,
  note: (repair: string) => void,
): { text: string; html?: string } | { html: string } {
  if (text.includes('\0') || html.includes('\0')) note('the text has NUL characters: removed');
  const plain = text.replaceAll('\0', '').trimEnd();
  const page = html.replaceAll('\0', '');
  if (page.trim()) return plain ? { html: page, text: plain } : { html: page };
  if (!plain) throw inputError('the message is empty', 'Nothing was sent.');
  return { text: plain };
}

/** Includes the content, because some programs use one Message-ID for all their messages. */
function keyOf({ messageId }: Email, params: EmailBulkParams): string | null {
  if (!messageId) return null;
  // The order of the recipients does not matter.
  const to = params.to.map((address) => normalizeAddress(address) ?? address).sort();
  const hash = createHash('sha256').update(JSON.stringify([messageId, { ...params, to }]));
  return keyOfMessage(hash.digest('hex'));
}
