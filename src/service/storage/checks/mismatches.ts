/** A contradiction in the data. */
export interface Mismatch {
  check: 'files' | 'integrity' | 'ledger' | 'batch' | 'outbox' | 'lease' | 'content' | 'answer';
  /** The id, key, token or file where it was found. */
  subject: string;
  problem: string;
}

export interface Check {
  check: Mismatch['check'];
  /** Returns `subject` and `problem` of each mismatch. */
  sql: string;
}
