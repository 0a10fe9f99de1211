import type { Attachment, Email } from 'postal-mime';
import { normalizeAnyAddress, wholeTextDecoder } from '../../contract/index.js';
import { codeOfAnswer, isUnknownRecipient } from '../carriers/smtp/enhanced-status.js';
import { type Complaint, complaintIn, isOfOutlook } from './complaint.js';
import { type Group, groupsIn } from './fields.js';
import { isFeedbackType, isReportType, parseMail } from './parse-mail.js';

/** What a report says of one recipient. */
interface Outcome {
  /** The forms in which its address may be written, in lower case; empty if it names nobody. */
  recipients: readonly string[];
  action: string;
  /** Such as `5.1.1`; empty without one. */
  status: string;
  /** The server's words. */
  answer: string;
}

/** The outcomes in a report that a mail cannot be delivered; null without a failure. */
export type Report = readonly Outcome[];

export interface Failure {
  /** Such as `5.1.1`; null without one. */
  code: string | null;
  /** Whether the recipient does not exist. */
  isUnknownRecipient: boolean;
}

const reports =
  /^\s*(?:multipart\/(?:report|mixed)|message\/(?:(?:global-)?delivery-status|feedback-report))\b/i;

/**
 * What a mail reports, in a failure or a complaint. Replies of people and machines are none. OpenSMTPD calls its reports
 * mixed.
 */
export async function reportsIn(
  { headers, text, attachments: parts }: Email,
  raw: Uint8Array,
): Promise<{ report: Report | null; complaint: Complaint | null }> {
  const header = (name: string) => headers.find(({ key }) => key === name)?.value ?? '';
  const isOne = parts.some((each) => isReport(each) || isFeedbackType(each.mimeType)) || isOfOutlook(raw);
  // Parsed again: what stands in a mail that it contains is not a part of the report.
  const { attachments } =
    isOne && reports.test(header('content-type'))
      ? await parseMail(raw, { forceRfc822Attachments: true })
      : { attachments: [] };
  const outcomes = attachments.some(isReport)
    ? withWords(outcomesIn(attachments), text ?? '')
    : outcomesInWords(text ?? '', header('x-failed-recipients'));
  const isFailure = outcomes.some(({ action }) => action === 'failed');
  return { report: isFailure ? outcomes : null, complaint: complaintIn(attachments) };
}

/**
 * The outcome of the mail to `to`. A report may be about somebody else: a member of a list, or whom the recipient
 * forwards to. Its address may also stand for several people, some of whom got the mail.
 */
export function failureOf(report: Report, to: string): Failure {
  const isFailed = ({ action }: Outcome) => action === 'failed';
  const own = report.filter(({ recipients }) => recipients.includes(to.toLowerCase()));
  const [first] = [...own, ...report].filter(isFailed);
  const isUnknown = (outcome: Outcome) =>
    isFailed(outcome) && isUnknownRecipient(outcome.answer, outcome.status);
  const isTaken = ({ action }: Outcome) => /^(?:delivered|relayed|expanded)$/.test(action);
  return {
    code: (first && codeOfAnswer(first.answer, first.status)) || null,
    isUnknownRecipient: own.length > 0 && own.every(isUnknown) && !report.some(isTaken),
  };
}

const isReport = ({ mimeType }: Attachment) => isReportType(mimeType);

/** RFC 3464: the mail's own fields, then a group for each recipient. */
function outcomesIn(attachments: readonly Attachment[]): Outcome[] {
  return attachments
    .filter(isReport)
    .flatMap(({ content }) => groupsIn(wholeTextDecoder('latin1').decode(content as ArrayBuffer)))
    .flatMap((group) => outcomeIn(group) ?? []);
}

/** The fields of OpenSMTPD give no answer, and 5.0.0 for each: it stands in the text, behind the address. */
function withWords(outcomes: readonly Outcome[], text: string): Outcome[] {
  const [, below = ''] = text.split('following list of recipients:', 2);
  const [given = ''] = below.split('Below is a copy', 1);
  const lines = given.split(/\r?\n/).map((line): [string, string] => {
    const end = line.indexOf(': ');
    return [line.slice(0, end).trim().toLowerCase(), line.slice(end + 2)];
  });
  const answers = new Map(lines);
  return outcomes.map((outcome) => ({
    ...outcome,
    answer: outcome.answer || (answers.get(outcome.recipients[0] ?? '') ?? ''),
  }));
}

function outcomeIn(group: Group): Outcome | null {
  const field = (name: string) => group.get(name) ?? '';
  const final = addressesIn(field('final-recipient'));
  const original = addressesIn(field('original-recipient'));
  const [, status = ''] = /^(\d\.\d{1,3}\.\d{1,3})\b/.exec(field('status')) ?? [];
  const [action = ''] = /^[a-z]+/i.exec(field('action')) ?? [];
  if (action === '' && (status === '' || final.length + original.length === 0)) return null;
  // The server may write the address anew, but whom it is forwarded to is somebody else.
  const isSame = final.every((each) => original.some((other) => isSameMailbox(each, other)));
  return {
    recipients: isSame ? [...final, ...original] : final,
    action: action.toLowerCase() || (status.startsWith('5') ? 'failed' : 'delayed'),
    status,
    answer: field('diagnostic-code')
      .replace(/^\s*[a-z][\w-]*\s*;/i, '')
      .trim(),
  };
}

/** `rfc822; <bold@example.com>`; some signs may be written as `+2B` (RFC 3461). */
function addressesIn(field: string): string[] {
  const [, written = ''] = /^(?:[^;]*;)?\s*<?([^\s<>]+@[^\s<>]+)>?/.exec(field) ?? [];
  const plain = written.replace(/\+([\dA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return [written, plain].flatMap((each) => normalizeAnyAddress(each)?.toLowerCase() ?? []);
}

/** `bold@mx.example.com` for `bold@example.com`. */
function isSameMailbox(final: string, original: string): boolean {
  const [[local, domain = ''], [of, at = '']] = [final.split('@'), original.split('@')];
  return local === of && (domain === at || domain.endsWith(`.${at}`) || at.endsWith(`.${domain}`));
}

const eximFailure = /\bThis is a permanent error\.\s+The following address\(es\) failed:\r?\n(.*)/s;
const qmailBegin = /^\s*Hi\. This is the /;
const qmailFailure = /\bThis is a permanent error; I've given up\.(.*)/s;
const qmailCopy = /^--- (?:Below this line|Enclosed)/m;

/** Reports in words, of qmail and of earlier releases of Exim: only what they say without a doubt. */
function outcomesInWords(text: string, failedRecipients: string): Outcome[] {
  const named = failedRecipients.toLowerCase().split(/[\s,]+/);
  const [, exim = ''] = eximFailure.exec(text) ?? [];
  const [, given = ''] = (qmailBegin.test(text) ? qmailFailure.exec(text) : null) ?? [];
  const [qmail = ''] = given.split(qmailCopy);
  return failedRecipients === ''
    ? outcomesBelow(qmail, /^<([^\s<>]+@[^\s<>@]+)>:\s*$/)
    : outcomesBelow(exim, /^ {1,3}([^\s<>]+@[^\s<>@]+)\s*$/).filter(({ recipients: [recipient = ''] }) =>
        named.includes(recipient),
      );
}

/** Addresses, each with the words of its server below. */
function outcomesBelow(text: string, address: RegExp): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('---')) break;
    const [, recipient] = address.exec(line) ?? [];
    const last = outcomes.at(-1);
    if (recipient !== undefined)
      outcomes.push({ recipients: [recipient.toLowerCase()], action: 'failed', status: '', answer: '' });
    else if (last !== undefined) last.answer = `${last.answer} ${line.trim()}`.trim();
  }
  return outcomes;
}
