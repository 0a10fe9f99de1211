import { createHash } from 'node:crypto';
import type { Address, Attachment, Email, Mailbox } from 'postal-mime';
import { type EmailBulkParams, normalizeAddress } from '../../contract/index.js';
import { visible } from '../bulk/input/repair.js';
import { CliError, inputError } from '../errors.js';
import { parseMail, utf8Headers } from './charset.js';
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
}

/**
 * Reads an internet message; `otherName` is the sender's name if there is no From. Throws CliError for content that the
 * service cannot send.
 */
export async function readMessage(raw: Uint8Array, addressed: Addressed, otherName = ''): Promise<Envelope> {
  const { message: whole, strayRecipients } = withBody(raw);
  if (addressed.inHeaders && strayRecipients !== null) {
    throw inputError(
      `'${visible(strayRecipients)}' may name a recipient, and is not in To, Cc or Bcc`,
      'Begin further lines of a header with a space, and end the headers with an empty line.',
    );
  }
  const { message, checked } = utf8Headers(whole);
  const mail = await parseMail(message).catch((error: Error) => {
    if (error instanceof CliError) throw error;
    throw inputError(
      `not an email message: ${error.message}`,
      'A message has headers, an empty line and a text.',
    );
  });
  const to = await recipientsOf(mail, addressed);
  const [other] = mail.attachments;
  if (other !== undefined) {
    throw inputError(
      `cannot send the part ${nameOf(other)}`,
      'Only text and HTML can be sent. Send a link instead.',
    );
  }
  const senderName = mail.from === undefined ? otherName : mailboxes(mail.from)[0]?.name;
  const { replyTo, unused } = replyToOf(mail);
  const common = {
    to,
    subject: checked(mail.subject ?? '', 'subject') || '(no subject)',
    ...(senderName ? { from_name: checked(senderName, 'sender name') } : {}),
    ...(replyTo === undefined ? {} : { reply_to: replyTo }),
  };
  const params = { ...common, ...bodiesOf(mail) };
  return { params, idempotencyKey: keyOf(mail, params), unusedReplyTo: unused };
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

function bodiesOf({ text, html }: Email): { text: string; html?: string } | { html: string } {
  const plain = text?.trimEnd();
  if (html?.trim()) return plain ? { html, text: plain } : { html };
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
