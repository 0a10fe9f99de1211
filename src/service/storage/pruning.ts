/** A portion of messages, and where the next one begins; null after the last. */
export interface PrunablePortion {
  messages: { seq: number; id: string }[];
  next: number | null;
}

export interface StoredAnswer {
  project: number;
  key: string;
  body: string;
}

/** `next`: of the next portion; null after the last. */
export interface AnswerPortion {
  answers: StoredAnswer[];
  next: { project: number; key: string } | null;
}

/** Erasing recipients and texts of old messages, in small transactions. */
export interface Pruning {
  /**
   * Of the portion behind `after`, final messages that are older and not yet pruned; to one recipient, or all. Without
   * `olderMs` everything that is not pruned, final or not.
   */
  listPrunable(query: { olderMs: number | null; to: string | null; after: number }): Promise<PrunablePortion>;
  /** Erases recipients and contents. What they cost, their outcomes and the counts of their batches stay. */
  pruneMessages(seqs: readonly number[]): Promise<void>;
  /** Of the portion behind `after`, answers about messages that were pruned. */
  listPrunedAnswers(after: { project: number; key: string } | null): Promise<AnswerPortion>;
  replaceAnswers(answers: readonly StoredAnswer[]): Promise<void>;
}

/** Rows that one transaction looks at. */
export const pruneRows = 1_000;

/** In place of the text of an error, which may name the recipient. */
export const prunedText = 'pruned';

/** The body without its recipient; null where it has none. */
export function withoutRecipient(body: string): string | null {
  const answer = JSON.parse(body) as { to?: string; error?: { message: string } | null };
  const { to = '', error } = answer;
  const hasText = error !== undefined && error !== null && error.message !== prunedText;
  if (to === '' && !hasText) return null;
  return JSON.stringify({
    ...answer,
    ...(to === '' ? {} : { to: '' }),
    ...(hasText ? { error: { ...error, message: prunedText } } : {}),
  });
}
