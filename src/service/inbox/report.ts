import type { Attachment, Email } from 'postal-mime';
import { normalizeAnyAddress, wholeTextDecoder } from '../../contract/index.js';
import { isUnknownRecipient } from '../carriers/smtp/enhanced-status.js';
import { isReportType, parseMail } from './parse-mail.js';

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
  status: string;
  /** Whether the recipient does not exist. */
  isUnknownRecipient: boolean;
}

const reports = /^\s*(?:multipart\/(?:report|mixed)|message\/(?:global-)?delivery-status)\b/i;

/** Replies of people and machines are none. OpenSMTPD calls its reports mixed. */
export async function reportIn(
  { headers, attachments, text }: Email,
  raw: Uint8Array,
): Promise<Report | null> {
  const header = (name: string) => headers.find(({ key }) => key === name)?.value ?? '';
  const failed = header('x-failed-recipients');
  const outcomes =
    reports.test(header('content-type')) && attachments.some(isReport)
      ? await outcomesIn(raw)
      : outcomesInWords(text ?? '', failed);
  return outcomes.some(({ action }) => action === 'failed') ? outcomes : null;
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
    status: first?.status ?? '',
    isUnknownRecipient: own.length > 0 && own.every(isUnknown) && !report.some(isTaken),
  };
}

const isReport = ({ mimeType }: Attachment) => isReportType(mimeType);

/** RFC 3464: the mail's own fields, then a group for each recipient; not of a report that the mail forwards. */
async function outcomesIn(raw: Uint8Array): Promise<Outcome[]> {
  const { attachments } = await parseMail(raw, { forceRfc822Attachments: true });
  return attachments
    .filter(isReport)
    .flatMap(({ content }) => groupsIn(wholeTextDecoder('latin1').decode(content as ArrayBuffer)))
    .flatMap((group) => outcomeIn(group) ?? []);
}

type Group = Map<string, string>;

/** A group ends with an empty line; some servers forget it, and begin the next one with the same field. */
function groupsIn(text: string): Group[] {
  const groups: Group[] = [];
  let group: Group = new Map();
  let last = '';
  const end = () => {
    groups.push(group);
    group = new Map();
    last = '';
  };
  for (const line of text.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line) ?? [];
    if (line.trim() === '') end();
    // Some servers continue a field without a blank.
    else if (name === '' || /^[ \t]/.test(line)) group.set(last, `${group.get(last) ?? ''} ${line.trim()}`);
    else {
      if (group.has(name.toLowerCase()) && /^(?:final-recipient|action)$/i.test(name)) end();
      last = name.toLowerCase();
      group.set(last, `${group.get(last) ?? ''} ${value}`.trim());
    }
  }
  end();
  return groups;
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
