import type { SMTPError as NodemailerError } from 'nodemailer/lib/smtp-connection';
import { OutcomeUnknown, type SubmitResult } from '../carrier.js';
import { isUnknownRecipient } from './enhanced-status.js';

const replyLength = 200;

/**
 * The result of a mail; `error` null: its relay took it. `isWhole`: all of its body was given away. A relay must discard
 * a mail without the final dot, which follows the last byte. Throws OutcomeUnknown.
 */
export function resultOf(error: NodemailerError | null, isWhole: boolean): SubmitResult {
  if (error === null) {
    if (isWhole) return { kind: 'accepted', carrierIds: [] };
    throw new OutcomeUnknown('its relay answered before the end of the mail');
  }
  const { code, command, responseCode = 0 } = error;
  const reason = reasonOf(error);
  const isReply = code === 'EENVELOPE' || code === 'EMESSAGE';
  // What it never sent: an address that cannot be written, or a mail larger than the relay announced.
  if (isReply && !error.response && !isWhole) return { kind: 'refused', reason, tryNextRoute: false };
  const isTemporary = isReply && responseCode >= 400 && responseCode < 500;
  const isPermanent = isReply && responseCode >= 500 && responseCode < 600;
  if (code === 'EENVELOPE' && command === 'MAIL FROM') {
    const scope = isTemporary || responseCode === 530 ? 'lane' : 'message';
    return { kind: 'later', reason, scope };
  }
  if (isPermanent) {
    const [, status = ''] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(String(error.response)) ?? [];
    const unknown = isUnknownRecipient(status) ? { isUnknownRecipient: true } : {};
    return { kind: 'refused', reason, tryNextRoute: false, ...unknown };
  }
  if (isTemporary || !isWhole) return { kind: 'later', reason, scope: 'message' };
  throw new OutcomeUnknown(reason);
}

function reasonOf({ response, message }: NodemailerError): string {
  if (!response) return `its relay did not take it: ${message}`;
  const line = String(response)
    .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim();
  return `its relay answered ${line.slice(0, replyLength)}`;
}
