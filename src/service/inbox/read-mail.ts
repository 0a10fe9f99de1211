import { createHash } from 'node:crypto';
import type { Address, Attachment, Email } from 'postal-mime';
import { normalizeAnyAddress, wholeTextDecoder } from '../../contract/index.js';
import { isUnknownRecipient } from '../carriers/smtp/enhanced-status.js';
import { storable } from '../storage/inbox.js';
import { withoutStyles } from './html.js';
import { isReportType, parseMail } from './parse-mail.js';

/** An incoming mail. */
export interface ReceivedMail {
  /** Normal form; empty without a sender. */
  from: string;
  subject: string | null;
  /** At most `maxTextBytes`. */
  text: string;
  /** In normal form: first those it was delivered to, then those it is addressed to. */
  recipients: string[];
  /**
   * Set for a report that a mail cannot be delivered (RFC 3464), with the status such as `5.1.1`, empty without one, and
   * whether the address does not exist.
   */
  failure: { status: string; isUnknownRecipient: boolean } | null;
  /** The same if the mail is received again. */
  fingerprint: string;
}

const maxTextBytes = 1_000_000;
const maxSubjectLength = 1_000;
/** Headers in which mail servers put the envelope's recipient. */
const deliveryHeaders = ['delivered-to', 'x-original-to', 'envelope-to'];
const maxRecipients = 1_000;

/** Rejects for anything that cannot be read as a mail. */
export async function readMail(raw: Uint8Array): Promise<ReceivedMail> {
  const mail = await parseMail(raw);
  if (mail.headers.length === 0) throw new Error('it has no headers');
  const from = addressesIn([mail.from ?? mail.sender])[0] ?? '';
  const subject = mail.subject === undefined ? null : storable(mail.subject).slice(0, maxSubjectLength);
  const text = shortened(
    storable(mail.text ?? (await textOfHtml(mail.html?.slice(0, 2 * maxTextBytes) ?? ''))).trim(),
  );
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
    failure: await failureIn(mail, raw),
    fingerprint: createHash('sha256').update(JSON.stringify(identity)).digest('base64url'),
  };
}

/** Only a report counts, not replies of people and machines. OpenSMTPD calls its reports mixed. */
async function failureIn({ headers, attachments }: Email, raw: Uint8Array): Promise<ReceivedMail['failure']> {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? '';
  if (!/^\s*multipart\/(?:report|mixed)\b/i.test(type) || !attachments.some(isReport)) return null;
  // Not one in a forwarded mail.
  const outer = await parseMail(raw, { forceRfc822Attachments: true });
  const report = outer.attachments.find(isReport);
  if (report === undefined) return null;
  const fields = wholeTextDecoder('latin1').decode(report.content as ArrayBuffer);
  // The mail's own fields, then a group for each recipient.
  const groups = fields.split(/\r?\n[ \t]*\r?\n/).filter((group) => /^action:/im.test(group));
  const failed = groups.filter((group) => /^action:[ \t]*failed\b/im.test(group));
  const [status] = failed.map(statusIn);
  if (status === undefined) return null;
  // The address may stand for several people, some of whom do not exist.
  const isUnknown = (group: string) => isUnknownRecipient(diagnosticIn(group), statusIn(group));
  return { status, isUnknownRecipient: groups.length === failed.length && failed.every(isUnknown) };
}

const statusIn = (group: string) => /^status:[ \t]*(\d\.\d{1,3}\.\d{1,3})\b/im.exec(group)?.[1] ?? '';

/** The server's answer; some reports continue it without a blank. */
function diagnosticIn(group: string): string {
  let isIn = false;
  const lines = group.split(/\r?\n/).filter((line) => {
    const [, name] = /^([!-9;-~]+)[ \t]*:/.exec(line) ?? [];
    if (name !== undefined) isIn = name.toLowerCase() === 'diagnostic-code';
    return isIn;
  });
  return lines
    .join(' ')
    .replace(/^[^:]*:/, '')
    .replace(/^\s*[a-z][\w-]*\s*;/i, '')
    .trim();
}

const isReport = ({ mimeType }: Attachment) => isReportType(mimeType);

const addressesIn = (written: readonly (Address | undefined)[]): string[] =>
  written
    .flatMap((each) => (each === undefined ? [] : (each.group ?? [each])))
    .flatMap(({ address }) => normalizeAnyAddress(address) ?? []);

/** The parser makes the text from the HTML if a mail has both. */
async function textOfHtml(html: string): Promise<string> {
  if (html === '') return '';
  const part = (type: string, body: string) =>
    `--b\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${body}\r\n`;
  const parts =
    part('text/plain', '') + part('text/html', Buffer.from(withoutStyles(html)).toString('base64'));
  return (
    (await parseMail(Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--`))).text ??
    ''
  );
}

function shortened(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxTextBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxTextBytes), { stream: true });
}
