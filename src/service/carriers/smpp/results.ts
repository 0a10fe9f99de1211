import type { SubmitResult } from '../carrier.js';
import { statuses, writtenStatus } from './codec/commands.js';

const aboutTheLane = new Set<number>([statuses.throttled, statuses.queueFull, statuses.systemError]);
const aboutTheNumber = new Set<number>([
  statuses.invalidRecipient,
  statuses.invalidRecipientType,
  statuses.invalidRecipientPlan,
]);

/** The result of a submission that was answered with a status other than 0. */
export function resultOf(status: number): Exclude<SubmitResult, { kind: 'accepted' }> {
  const reason = `its operator answered with status ${writtenStatus(status)}`;
  if (aboutTheNumber.has(status)) {
    const unknown = status === statuses.invalidRecipient ? { isUnknownRecipient: true } : {};
    return { kind: 'refused', reason, tryNextRoute: true, ...unknown };
  }
  return { kind: 'later', reason, scope: aboutTheLane.has(status) ? 'lane' : 'message' };
}
