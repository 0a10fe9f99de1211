import type { SubmitResult } from '../carrier.js';
import { statuses, writtenStatus } from './codec/commands.js';
import type { SmppRoute } from './route-settings.js';

/**
 * What a status of a submission is about: the message, which is refused; the account or what is the same for every
 * message of the route, such as its source; or the rate. Any other status may pass.
 */
type Subject = 'message' | 'account' | 'rate';

/** SMPP 3.4, 5.1.3. */
const subjects = new Map<number, Subject>([
  // Length of the message, of the command.
  [0x01, 'message'],
  [0x02, 'message'],
  // Bind state, bound twice, priority, registered delivery.
  [statuses.notBound, 'account'],
  [0x05, 'account'],
  [0x06, 'account'],
  [0x07, 'account'],
  // Source, recipient.
  [0x0a, 'account'],
  [statuses.invalidRecipient, 'message'],
  // Bind, password, system id.
  [0x0d, 'account'],
  [statuses.invalidPassword, 'account'],
  [statuses.invalidSystemId, 'account'],
  [statuses.queueFull, 'rate'],
  // Service type.
  [0x15, 'account'],
  // Number of recipients, distribution list, flag of a recipient.
  [0x33, 'message'],
  [0x34, 'message'],
  [0x40, 'message'],
  // Replacement, esm_class.
  [0x42, 'account'],
  [0x43, 'account'],
  // Distribution list; the submission failed.
  [0x44, 'message'],
  [0x45, 'message'],
  // Type and plan of the source, then of the recipient.
  [0x48, 'account'],
  [0x49, 'account'],
  [statuses.invalidRecipientType, 'message'],
  [statuses.invalidRecipientPlan, 'message'],
  // System type, replacement flag.
  [0x53, 'account'],
  [0x54, 'account'],
  [statuses.throttled, 'rate'],
  // Time of delivery; validity, which a verification has of its own; predefined message.
  [0x61, 'account'],
  [0x62, 'message'],
  [0x63, 'account'],
  // The receiver's application: for good, rejected.
  [0x65, 'message'],
  [statuses.rejected, 'message'],
  // Optional parameters: unreadable, not allowed, their length, a missing one, their value.
  [0xc0, 'account'],
  [0xc1, 'account'],
  [0xc2, 'account'],
  [0xc3, 'account'],
  [0xc4, 'account'],
]);

/** The result of a submission with a status other than 0. The lists of the route come first. */
export function resultOf(
  status: number,
  { permanent, temporary }: Pick<SmppRoute, 'permanent' | 'temporary'>,
): Exclude<SubmitResult, { kind: 'accepted' }> {
  const code = writtenStatus(status);
  const reason = `its operator answered with status ${code}`;
  const subject = permanent.includes(status)
    ? 'message'
    : temporary.includes(status)
      ? undefined
      : subjects.get(status);
  if (subject === 'message') {
    const unknown = status === statuses.invalidRecipient ? { isUnknownRecipient: true } : {};
    return { kind: 'refused', reason, code, tryNextRoute: true, ...unknown };
  }
  return { kind: 'later', reason, code, scope: subject ?? 'message' };
}
