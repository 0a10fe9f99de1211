import MailComposer from 'nodemailer/lib/mail-composer';
import { normalizeAddress } from '../../../contract/index.js';
import { asciiDomain, domainOf, parseMailbox, sharedDomain } from '../../mailbox.js';
import { hosted } from '../../settings.js';
import type { Submission } from '../carrier.js';
import { bounceAddress } from './bounce-address.js';
import type { Mail } from './connection.js';
import { signMail } from './signing.js';
import { readSigningKey } from './signing-key.js';

export interface Sender {
  /** Replaces addresses of the shared domain. */
  from: string;
  /** Where bounces go; null for the sender. */
  bounces: { key: Uint8Array; domain: string } | null;
}

/** Something is missing that mails of the project must have: the key that signs them, or their link to unsubscribe. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The mail for a submission, identical in every attempt except for its Date. `date`: milliseconds since 1970. Rejects
 * with NotReady. `warn` is called for a key that others can read.
 */
export async function composeMail(
  submission: Submission,
  sender: Sender,
  date: number,
  warn?: (warning: string) => void,
): Promise<Mail> {
  const { reference, to, subject, text, html, replyTo } = submission;
  const written = parseMailbox(submission.from ?? '');
  const own = normalizeAddress(written.address) ?? written.address;
  const from = { ...written, address: domainOf(own) === sharedDomain ? sender.from : own };
  const composer = new MailComposer({
    from,
    to: { name: '', address: to },
    subject: subject ?? '',
    messageId: `<${reference}@${domainOf(from.address)}>`,
    date: new Date(date),
    headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribing(submission) },
    ...(replyTo === null ? {} : { replyTo: { name: '', address: replyTo } }),
    ...(text ? { text: withLineEnds(text) } : {}),
    ...(html ? { html: withLineEnds(html) } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { bounces } = sender;
  const unsigned = await composer.compile().build();
  return {
    from: bounces === null ? from.address : bounceAddress(reference, bounces.key, bounces.domain),
    to,
    bytes: await signed(unsigned, submission, domainOf(from.address), warn),
  };
}

/** A lone return becomes a line end on the wire, after the mail is signed. */
const withLineEnds = (text: string) => text.replace(/\r\n?|\n/g, '\r\n');

type Headers = Record<string, string | { prepared: boolean; value: string }>;

/** RFC 2369, and for a web address RFC 8058: mail programs post to it without further questions. */
function unsubscribing({ listUnsubscribe, to }: Submission): Headers {
  if (!listUnsubscribe) return {};
  if (listUnsubscribe === hosted)
    throw new NotReady('no public URL', 'list_unsubscribe is hosted, and the service has no public URL');
  const address = listUnsubscribe.replaceAll('{to}', encodeURIComponent(to));
  return {
    'List-Unsubscribe': { prepared: true, value: `<${address}>` },
    ...(address.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
  };
}

async function signed(
  mail: Buffer,
  { ownDomain }: Submission,
  sentFrom: string,
  warn?: (warning: string) => void,
): Promise<Buffer> {
  if (!ownDomain?.selector || !ownDomain.key_file) return mail;
  const { domain, selector, key_file: file } = ownDomain;
  // Accepted before the project had its own domain, or while it had another one.
  if (asciiDomain(domain) !== sentFrom) return mail;
  const privateKey = await readSigningKey(file, warn).catch((error) => {
    throw new NotReady('no key', `the DKIM key of ${domain} cannot be used`, { cause: error });
  });
  return signMail(mail, { domain: sentFrom, selector, privateKey });
}
