import { createHash } from 'node:crypto';
import PostalMime, { type Address, type Email, type Mailbox } from 'postal-mime';
import { type EmailBulkParams, normalizeAddress } from '../../contract/index.js';
import { inputError, usageError } from '../errors.js';
import { withBody } from './headless.js';
import { keyOfMessage } from './sysexits.js';

export interface Envelope {
  params: EmailBulkParams;
  /** Made of the Message-ID and the content, so that the same message is not sent twice. Null without a Message-ID. */
  idempotencyKey: string | null;
}

/** Who gets it: these addresses, and with `inHeaders` those of To, Cc and Bcc. */
export interface Addressed {
  recipients: readonly string[];
  inHeaders: boolean;
}

/** Reads an internet message. Throws CliError for content that the service cannot send. */
export async function readMessage(raw: Uint8Array, addressed: Addressed): Promise<Envelope> {
  const mail = await PostalMime.parse(withBody(raw)).catch((error: Error) => {
    throw inputError(
      `not an email message: ${error.message}`,
      'A message has headers, an empty line and a text.',
    );
  });
  const to = addressesOf(mail, addressed);
  if (mail.attachments.length > 0) {
    throw inputError('the message has attachments, which cannot be sent', 'Send a link to them instead.');
  }
  const from = mailboxes(mail.from)[0];
  const replyTo = mailboxes(...(mail.replyTo ?? []))[0]?.address ?? from?.address;
  const common = {
    to,
    subject: mail.subject || '(no subject)',
    ...(from?.name ? { from_name: from.name } : {}),
    ...(replyTo && normalizeAddress(replyTo) !== null ? { reply_to: replyTo } : {}),
  };
  const params = { ...common, ...bodiesOf(mail) };
  return { params, idempotencyKey: keyOf(mail, params) };
}

function addressesOf(mail: Email, { recipients, inHeaders }: Addressed): string[] {
  const to = [...recipients, ...(inHeaders ? addressesInHeaders(mail) : [])];
  if (to.length === 0) throw usageError('the message has no recipient', 'Give it a To: header and use -t.');
  const bad = to.find((address) => normalizeAddress(address) === null);
  if (bad !== undefined) throw inputError(`'${bad}' is not an email address`, 'In a crontab, set MAILTO.');
  return [...new Set(to)];
}

function addressesInHeaders({ to, cc, bcc, headers }: Email): string[] {
  // Such a message is for the people that it was resent to; those in To have it.
  if (headers.some(({ key }) => resent.test(key))) {
    throw inputError('the message was resent, and -t cannot tell to whom', 'Give the recipients without -t.');
  }
  return mailboxes(...[to, cc, bcc].flatMap((list) => list ?? [])).map(({ address }) => address);
}
const resent = /^resent-(?:to|cc|bcc)$/;

function bodiesOf({ text, html }: Email): { text: string; html?: string } | { html: string } {
  const plain = text?.trimEnd();
  if (html?.trim()) return plain ? { html, text: plain } : { html };
  if (!plain) throw inputError('the message is empty', 'Nothing was sent.');
  return { text: plain };
}

const mailboxes = (...addresses: (Address | undefined)[]): Mailbox[] =>
  addresses.flatMap((each) => (each === undefined ? [] : (each.group ?? [each]))).filter(hasSomething);
const hasSomething = ({ address, name }: Mailbox) => address !== '' || name !== '';

/** Hashes the content too: some programs give all their messages one Message-ID. */
function keyOf({ messageId }: Email, params: EmailBulkParams): string | null {
  if (!messageId) return null;
  // The order of the recipients does not matter.
  const to = params.to.map((address) => normalizeAddress(address) ?? address).sort();
  const hash = createHash('sha256').update(JSON.stringify([messageId, { ...params, to }]));
  return keyOfMessage(hash.digest('hex'));
}
