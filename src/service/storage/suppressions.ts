import type { Listed, PageRequest } from './lists.js';
import type { Instant } from './records.js';

/** A recipient that a project sends nothing more to. */
export interface SuppressionRecord {
  /** Normal form, or a pseudonym. */
  to: string;
  reason: string;
  createdAt: Instant;
}

export interface Suppressions {
  /** Of one that is suppressed already nothing changes. */
  suppress(projectId: string, to: string, reason: string): Promise<void>;
  /** Null for a recipient that is not suppressed. */
  getSuppression(projectId: string, to: string): Promise<SuppressionRecord | null>;
  /** Newest first, from behind the recipient `after`; null when that is not there. */
  listSuppressions(projectId: string, page: PageRequest): Promise<Listed<SuppressionRecord> | null>;
  /** False for a recipient that is not suppressed. */
  removeSuppression(projectId: string, to: string): Promise<boolean>;
}
