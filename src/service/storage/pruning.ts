export interface PrunableMessage {
  seq: number;
  id: string;
  projectId: string;
  ageMs: number;
}

/** A portion of messages, and where the next one begins; null after the last. */
export interface PrunablePortion {
  messages: PrunableMessage[];
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

/** Milliseconds. The caps count sends for half of it. */
export const countedFor = 2 * 86_400_000;

/** Erasing recipients and texts, `pruneRows` rows at most in a transaction: callers go on until nothing is left. */
export interface Pruning {
  /** Final messages of all projects that are older and not yet pruned, of the portion behind `after`. */
  listPrunable(query: { olderMs: number; after: number }): Promise<PrunablePortion>;
  /** Final messages to a recipient, in any project, that are older; all of them for null. */
  listFinalTo(to: string, olderMs: number | null): Promise<PrunableMessage[]>;
  /** Messages to a recipient, in any project, final or not. */
  countMessagesTo(to: string): Promise<number>;
  /**
   * Erases recipients and contents of final messages. What they cost, their outcomes and the counts of their batches
   * stay. The caps still count those of the last days to the recipient `erased`, by its pseudonym; without it they
   * forget them.
   */
  pruneMessages(
    messages: readonly Pick<PrunableMessage, 'seq' | 'id'>[],
    erased: string | null,
  ): Promise<void>;
  /** Of the portion behind `after`, answers about messages that were pruned. */
  listPrunedAnswers(after: { project: number; key: string } | null): Promise<AnswerPortion>;
  replaceAnswers(answers: readonly StoredAnswer[]): Promise<void>;
  /** Deletes older incoming messages, of one project or from one sender; all of them for null. Returns their number. */
  pruneInbox(which: { olderMs: number | null } & ({ projectId: string } | { from: string })): Promise<number>;
  /** Keeps the pseudonym of a suppressed recipient, in every project. Returns their number. */
  eraseSuppressed(to: string): Promise<number>;
  /**
   * Deletes receipts, of one recipient or all, that no message waits for any more, and sign-ins and pseudonyms of sends
   * that are over. Returns the number of receipts.
   */
  pruneLeftovers(to: string | null): Promise<number>;
  /**
   * Begins the run of a schedule; null where another was begun in the last hour and goes on, or has ended within
   * `everyMs`. `isRepeated`: the one before never ended. `idleMs`: since that one, by the clock; null for the first.
   */
  beginPruneRun(everyMs: number): Promise<{ isRepeated: boolean; idleMs: number | null } | null>;
  endPruneRun(): Promise<void>;
}

/** Rows that one transaction erases: some milliseconds. */
export const pruneRows = 100;

/** Messages that one portion looks at: most of them were pruned before. */
export const scannedRows = 1_000;

/** `last` is the number of the newest message. */
export function portionOf(messages: PrunableMessage[], after: number, last: number): PrunablePortion {
  const lastFound = messages.length === pruneRows ? messages.at(-1)?.seq : undefined;
  const next = lastFound ?? after + scannedRows;
  return { messages, next: next < last ? next : null };
}

/** Milliseconds after which a run is over that has not ended: its process is gone. */
export const longestRun = 3_600_000;

/** Milliseconds for which a receipt may come before the outcome of its submission. */
export const receiptsWait = 7 * 86_400_000;

/** In place of the reason of a failure, which may name the recipient. */
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
