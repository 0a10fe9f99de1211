import type { SMTPError as NodemailerError } from 'nodemailer/lib/smtp-connection';
import { type Deferral, OutcomeUnknown, type SubmitResult } from '../carrier.js';
import { isUnknownRecipient } from './enhanced-status.js';

const replyLength = 200;
/** 421: the relay closes the connection for everybody. 530, 535: it wants a login, or another one. */
const aboutTheAccount = new Set([421, 530, 535]);
/** In a refusal of Gmail, Exchange Online, cPanel, SendGrid, Zoho and others: the account has sent as much as it may. */
const aboutTheDay =
  /^5\d\d[ -](?:5\.4\.5|5\.1\.90|5\.7\.(?:70[05]|233))\b|\bSubmissionQuotaExceeded|\b(?:daily|24-hour) (?:\w+ ){0,3}sending (?:limit|quota)\b|\bexceeded the max (?:emails|defers and failures) per hour\b|\bmaximum credits exceeded\b|\bunusual sending activity detected\b/i;
/** OpenSMTPD says it of a mailbox that is unknown, and of every recipient where it does not relay for this client. */
const unknownOrNoRelay = /^550 Invalid recipient: </;
/** About the dialogue, not the mail. */
const badSequence = 503;

/** 421, also written 451 4.4.2. With 4.7 it is a policy about the sender, whichever connection it uses. */
const closing = /^(?:421(?![ -]4\.7\.)|4\d\d[ -]4\.4\.2\b)/;

/**
 * Whether a relay ended the connection before it knew of the mail: it answered nothing, or to MAIL that it closes, as
 * after a number of mails or a time. `lastAnswer`: since the mail began.
 */
export function isFarewell(error: NodemailerError | null, lastAnswer: string | false): boolean {
  if (error === null) return false;
  if (lastAnswer === false) return error.code === 'ECONNECTION' || error.code === 'ESOCKET';
  return error.command === 'MAIL FROM' && closing.test(String(error.response));
}

/**
 * The result of a mail; `error` is null if the relay accepted it. `isWhole`: its whole body was written. A relay must
 * discard a mail without the final dot, which follows the last byte. `show`: takes secrets out of what a relay says.
 * Throws OutcomeUnknown.
 */
export function resultOf(
  error: NodemailerError | null,
  isWhole: boolean,
  show: (text: string) => string,
): SubmitResult {
  if (error === null) {
    if (isWhole) return { kind: 'accepted', carrierIds: [] };
    throw new OutcomeUnknown('its relay answered before the end of the mail');
  }
  const { code, command, responseCode = 0 } = error;
  const isReply = code === 'EENVELOPE' || code === 'EMESSAGE';
  const answer = answerOf(error, show);
  // Errors before sending: an address that cannot be written, or a mail larger than the relay announced.
  if (isReply && !error.response && !isWhole) return { kind: 'refused', ...answer, tryNextRoute: false };
  // A relay that closes after 421 may leave later commands unanswered.
  if ((isReply || !isWhole) && aboutTheAccount.has(responseCode))
    return { kind: 'later', ...answer, scope: 'account' };
  const { line } = readReply(error.response);
  if (isReply && aboutTheDay.test(line)) return { kind: 'later', ...answer, scope: 'account', isOfDay: true };
  const isOfSender = code === 'EENVELOPE' && command === 'MAIL FROM';
  const isPermanent = isReply && responseCode >= 500 && responseCode < 600;
  if (isPermanent && !(isOfSender && responseCode === badSequence)) {
    const isUnknown = !isOfSender && !unknownOrNoRelay.test(line) && isUnknownRecipient(line);
    const about = isOfSender ? { isOfSender: true as const } : isUnknown ? { isUnknownRecipient: true } : {};
    return { kind: 'refused', ...answer, tryNextRoute: false, ...about };
  }
  const isTemporary = isReply && responseCode >= 400 && responseCode < 500;
  if (!isTemporary && isWhole) throw new OutcomeUnknown(answer.reason);
  const recipient = isTemporary && command === 'RCPT TO' ? ({ isOfRecipient: true } as const) : {};
  return { kind: 'later', ...answer, scope: 'message', ...recipient };
}

function answerOf(
  { response, message }: NodemailerError,
  show: (text: string) => string,
): Pick<Deferral, 'reason' | 'code' | 'words'> {
  if (!response) return { reason: `its relay did not take it: ${show(message)}`, code: 'no answer' };
  const { line, status, enhanced, words } = readReply(response);
  const code = enhanced === '' ? status : `${status} ${enhanced}`;
  return { reason: `its relay answered ${show(line).slice(0, replyLength)}`, code, words: show(words) };
}

/** RFC 5321, 4.2, and RFC 2034: a reply in one line, and its parts. */
function readReply(response: unknown) {
  const line = String(response)
    .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim();
  const [, status = '', enhanced = '', words = ''] =
    /^(\d{3})(?:[ -](\d\.\d{1,3}\.\d{1,3})\b)?[ -]?(.*)$/.exec(line) ?? [];
  return { line, status, enhanced, words };
}
