import type { SuppressionReason } from '../../contract/index.js';
import type { ClaimedMessage } from './dispatching.js';
import type { Listed, PageRequest } from './lists.js';
import type { Content, Instant, MessageRecord } from './records.js';

/** A recipient to whom a project sends nothing more. */
export interface SuppressionRecord {
  /** Normal form, or a pseudonym; of an address that opted out, without its tag. */
  to: string;
  reason: SuppressionReason;
  createdAt: Instant;
}

export interface Suppressions {
  /**
   * Returns how many were added. Whoever is suppressed already keeps the reason, except that `unknown_recipient` replaces
   * the `opt_out` of an address, to which single emails are still sent; and `opt_out` that of a number, which exists then.
   */
  suppressAll(projectId: string, recipients: readonly string[], reason: SuppressionReason): Promise<number>;
  suppress(projectId: string, to: string, reason: SuppressionReason): Promise<void>;
  /** In the order of the recipients; null for one that is not suppressed. */
  findSuppressions(projectId: string, recipients: readonly string[]): Promise<(SuppressionReason | null)[]>;
  /** Newest first, starting after the recipient `after`; null if that does not exist. */
  listSuppressions(projectId: string, page: PageRequest): Promise<Listed<SuppressionRecord> | null>;
  /** With a `reason`, only if it is that one. False for a recipient that is not suppressed. */
  removeSuppression(projectId: string, to: string, reason?: SuppressionReason): Promise<boolean>;
}

/** Whether opt-outs hold for a message: never for a code, and for an email if it is one of many. */
export function obeysOptOuts(
  { channel, batchId }: Pick<MessageRecord, 'channel' | 'batchId'>,
  { encrypted, isBulk }: Content,
): boolean {
  return encrypted === null && (channel === 'sms' || batchId !== null || isBulk === true);
}

/** Whether its mark asks again. An SMS whose caller waits was asked when it was accepted, just before. */
export function isAskedAgain({ message: { channel, batchId } }: Pick<ClaimedMessage, 'message'>): boolean {
  return batchId !== null || channel === 'email';
}
