/** Something in the data that contradicts the rest of it. */
export interface Mismatch {
  check: 'files' | 'integrity' | 'ledger' | 'batch' | 'outbox' | 'lease' | 'content' | 'answer';
  /** The id, key, token or file it was found at. */
  subject: string;
  problem: string;
}

export interface Check {
  check: Mismatch['check'];
  /** Returns `subject` and `problem` of each mismatch. */
  sql: string;
}
