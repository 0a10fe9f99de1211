import type { SuppressionReason } from '../../contract/index.js';
import type { Listed, PageRequest } from './lists.js';
import type { Instant } from './records.js';

/** A recipient to whom a project sends nothing more. */
export interface SuppressionRecord {
  /** Normal form, or a pseudonym. */
  to: string;
  reason: SuppressionReason;
  createdAt: Instant;
}

export interface Suppressions {
  /** Changes nothing for one that is already suppressed. */
  suppress(projectId: string, to: string, reason: SuppressionReason): Promise<void>;
  /** Null for a recipient that is not suppressed. */
  getSuppression(projectId: string, to: string): Promise<SuppressionRecord | null>;
  /** Newest first, starting after the recipient `after`; null if that does not exist. */
  listSuppressions(projectId: string, page: PageRequest): Promise<Listed<SuppressionRecord> | null>;
  /** False for a recipient that is not suppressed. */
  removeSuppression(projectId: string, to: string): Promise<boolean>;
}
