import { createHash } from 'node:crypto';
import type { Address, Attachment, Email, Mailbox } from 'postal-mime';
import { type EmailBulkParams, normalizeAddress } from '../../contract/index.js';
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
  const { message, checked } = utf8Headers(withBody(raw));
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
  const from = mailboxes(mail.from)[0];
  const senderName = mail.from === undefined ? otherName : from?.name;
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

/** The service accepts one address; without a Reply-To header, it is that of From. */
function replyToOf({ replyTo = [], from }: Email): { replyTo?: string; unused: string[] } {
  const written = mailboxes(...replyTo).map(({ address, name }) => address || name);
  const first = [...written, mailboxes(from)[0]?.address ?? ''].find(
    (address) => normalizeAddress(address) !== null,
  );
  const unused = written.filter((address) => address !== first);
  return first === undefined ? { unused } : { replyTo: first, unused };
}

/** `application/pdf 'report.pdf'` */
const nameOf = ({ mimeType, filename }: Attachment) => (filename ? `${mimeType} '${filename}'` : mimeType);

function bodiesOf({ text, html }: Email): { text: string; html?: string } | { html: string } {
  const plain = text?.trimEnd();
  if (html?.trim()) return plain ? { html, text: plain } : { html };
  if (!plain) throw inputError('the message is empty', 'Nothing was sent.');
  return { text: plain };
}

const mailboxes = (...addresses: (Address | undefined)[]): Mailbox[] =>
  addresses.flatMap((each) => (each === undefined ? [] : (each.group ?? [each]))).filter(hasSomething);
const hasSomething = ({ address, name }: Mailbox) => address !== '' || name !== '';

/** Includes the content, because some programs use one Message-ID for all their messages. */
function keyOf({ messageId }: Email, params: EmailBulkParams): string | null {
  if (!messageId) return null;
  // The order of the recipients does not matter.
  const to = params.to.map((address) => normalizeAddress(address) ?? address).sort();
  const hash = createHash('sha256').update(JSON.stringify([messageId, { ...params, to }]));
  return keyOfMessage(hash.digest('hex'));
}
