import { createHash } from 'node:crypto';
import type { Address, Email } from 'postal-mime';
import { normalizeAnyAddress } from '../../contract/index.js';
import { storable } from '../storage/inbox.js';
import type { Complaint } from './complaint.js';
import { withHeaderEnd } from './header-end.js';
import { readPagesAsTexts } from './html.js';
import { parseMail } from './parse-mail.js';
import { type Report, reportsIn } from './report.js';

/** An incoming mail. */
export interface ReceivedMail {
  /** Normal form if it is an address, else as written; empty without a sender. */
  from: string;
  subject: string | null;
  /** At most `maxTextBytes`. */
  text: string;
  /** In normal form: first those it was delivered to, then those it is addressed to. */
  recipients: string[];
  /** Set for a report that a mail cannot be delivered. */
  report: Report | null;
  /** Set for a report that the recipient of a mail complains about it. */
  complaint: Complaint | null;
  /** The same if the mail is received again. */
  fingerprint: string;
}

const maxTextBytes = 1_000_000;
const maxSubjectLength = 1_000;
const maxSenderLength = 320;
/** Headers in which mail servers put the envelope's recipient. */
const deliveryHeaders = ['delivered-to', 'x-original-to', 'envelope-to'];
const maxRecipients = 1_000;

readPagesAsTexts();

/** Rejects for anything that cannot be read as a mail. */
export async function readMail(received: Uint8Array): Promise<ReceivedMail> {
  const raw = withHeaderEnd(received);
  const mail = await parseMail(raw);
  if (mail.headers.length === 0) throw new Error('it has no headers');
  const from = senderOf(mail);
  const subject = mail.subject === undefined ? null : storable(mail.subject).slice(0, maxSubjectLength);
  const text = shortened(storable(mail.text ?? '').trim());
  const delivered = mail.headers.filter(({ key }) => deliveryHeaders.includes(key)).map(({ value }) => value);
  const written = addressesIn([mail.to, mail.cc, mail.bcc].flatMap((list) => list ?? []));
  const recipients = [
    ...delivered.flatMap((address) => normalizeAnyAddress(address.trim()) ?? []),
    ...written,
  ];
  // Not those of the envelope: each of several recipients gets a copy of the mail.
  const identity = [mail.messageId, mail.date, from, written, subject, text];
  return {
    from,
    subject,
    text,
    recipients: [...new Set(recipients)].slice(0, maxRecipients),
    ...(await reportsIn(mail, raw)),
    fingerprint: createHash('sha256').update(JSON.stringify(identity)).digest('base64url'),
  };
}

/** An address that nothing can be sent to, or a name without one, is kept as written. */
function senderOf({ from, sender, returnPath = '' }: Email): string {
  const mailboxes = [from, sender].flatMap((each) => (each === undefined ? [] : (each.group ?? [each])));
  const written = [...mailboxes.map(({ address, name }) => address || name), returnPath];
  const first = written.find((each) => each.trim() !== '') ?? '';
  return (
    addressesIn([from, sender])[0] ??
    storable(first.replace(/[\s\p{Cc}]+/gu, ' '))
      .trim()
      .slice(0, maxSenderLength)
  );
}

const addressesIn = (written: readonly (Address | undefined)[]): string[] =>
  written
    .flatMap((each) => (each === undefined ? [] : (each.group ?? [each])))
    .flatMap(({ address }) => normalizeAnyAddress(address) ?? []);

function shortened(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxTextBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxTextBytes), { stream: true });
}
