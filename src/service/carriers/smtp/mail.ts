import MailComposer from 'nodemailer/lib/mail-composer';
import { parseMailbox, sharedDomain } from '../../mailbox.js';
import type { Submission } from '../carrier.js';
import { bounceAddress } from './bounce-address.js';
import type { Mail } from './connection.js';

export interface Sender {
  /** In place of addresses of the shared domain. */
  from: string;
  /** Where bounces go; null: to the sender. */
  bounces: { key: Uint8Array; domain: string } | null;
}

/** A mail of a submission, the same for every attempt but for its Date. `date`: milliseconds since 1970. */
export async function composeMail(submission: Submission, sender: Sender, date: number): Promise<Mail> {
  const { reference, to, subject, text, html, replyTo } = submission;
  const written = parseMailbox(submission.from ?? '');
  const domain = domainOf(written.address);
  const from = { ...written, address: domain === sharedDomain ? sender.from : written.address };
  const composer = new MailComposer({
    from,
    to: { name: '', address: to },
    subject: subject ?? '',
    messageId: `<${reference}@${domainOf(from.address)}>`,
    date: new Date(date),
    headers: { 'Auto-Submitted': 'auto-generated' },
    ...(replyTo === null ? {} : { replyTo: { name: '', address: replyTo } }),
    ...(text ? { text } : {}),
    ...(html ? { html } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { bounces } = sender;
  return {
    from: bounces === null ? from.address : bounceAddress(reference, bounces.key, bounces.domain),
    to,
    bytes: await composer.compile().build(),
  };
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
