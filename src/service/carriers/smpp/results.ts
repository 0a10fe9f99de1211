import type { SubmitResult } from '../carrier.js';
import { statuses, writtenStatus } from './codec/commands.js';

const aboutTheRate = new Set<number>([statuses.throttled, statuses.queueFull]);
const aboutTheAccount = new Set<number>([
  statuses.notBound,
  statuses.invalidPassword,
  statuses.invalidSystemId,
]);
const aboutTheNumber = new Set<number>([
  statuses.invalidRecipient,
  statuses.invalidRecipientType,
  statuses.invalidRecipientPlan,
]);

/** The result of a submission with a status other than 0. */
export function resultOf(status: number): Exclude<SubmitResult, { kind: 'accepted' }> {
  const code = writtenStatus(status);
  const reason = `its operator answered with status ${code}`;
  if (aboutTheNumber.has(status)) {
    const unknown = status === statuses.invalidRecipient ? { isUnknownRecipient: true } : {};
    return { kind: 'refused', reason, code, tryNextRoute: true, ...unknown };
  }
  const scope = aboutTheRate.has(status) ? 'rate' : aboutTheAccount.has(status) ? 'account' : 'message';
  return { kind: 'later', reason, code, scope };
}
