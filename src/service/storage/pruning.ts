export interface PrunableMessage {
  seq: number;
  id: string;
  projectId: string;
  ageMs: number;
}

/** Some messages, and where the next portion starts; null after the last. */
export interface PrunablePortion {
  messages: PrunableMessage[];
  next: number | null;
}

export interface StoredAnswer {
  project: number;
  key: string;
  body: string;
}

/** `next`: start of the next portion; null after the last. */
export interface AnswerPortion {
  answers: StoredAnswer[];
  next: { project: number; key: string } | null;
}

/** Milliseconds. The caps count sends for half as long. */
export const countedFor = 2 * 86_400_000;

/**
 * Erases recipients and texts, at most `pruneRows` rows in a transaction; callers repeat the call until nothing is
 * left.
 */
export interface Pruning {
  /** Older, unpruned final messages of all projects, in the portion after `after`. */
  listPrunable(query: { olderMs: number; after: number }): Promise<PrunablePortion>;
  /** Older final messages to a recipient in any project; all of them for null. */
  listFinalTo(to: string, olderMs: number | null): Promise<PrunableMessage[]>;
  /** Messages to a recipient, in any project, final or not. */
  countMessagesTo(to: string): Promise<number>;
  /**
   * Erases recipients and contents of final messages. Costs, outcomes and the counts of batches remain. The caps
   * still count recent messages to the recipient `erased`, by its pseudonym; without it they no longer do.
   */
  pruneMessages(
    messages: readonly Pick<PrunableMessage, 'seq' | 'id'>[],
    erased: string | null,
  ): Promise<void>;
  /** Answers about pruned messages, in the portion after `after`. */
  listPrunedAnswers(after: { project: number; key: string } | null): Promise<AnswerPortion>;
  replaceAnswers(answers: readonly StoredAnswer[]): Promise<void>;
  /** Deletes older incoming messages of one project or from one sender; all of them for null. Returns their number. */
  pruneInbox(which: { olderMs: number | null } & ({ projectId: string } | { from: string })): Promise<number>;
  /** Stores the pseudonym of a suppressed recipient in its place, in every project. Returns how many there were. */
  eraseSuppressed(to: string): Promise<number>;
  /**
   * Deletes receipts that no message waits for any more, of one recipient or all, and expired sign-ins and
   * pseudonyms. Returns the number of receipts.
   */
  pruneLeftovers(to: string | null): Promise<number>;
  /**
   * Starts a scheduled run. Null if another one started in the last hour and is running, or finished within
   * `everyMs`. `isRepeated`: the last one never finished. `idleMs`: since that one, by the clock; null for the first.
   */
  beginPruneRun(everyMs: number): Promise<{ isRepeated: boolean; idleMs: number | null } | null>;
  endPruneRun(): Promise<void>;
}

/** Rows erased in one transaction, which takes some milliseconds. */
export const pruneRows = 100;

/** Messages read for one portion, most of which were pruned earlier. */
export const scannedRows = 1_000;

/** `last` is the number of the newest message. */
export function portionOf(messages: PrunableMessage[], after: number, last: number): PrunablePortion {
  const lastFound = messages.length === pruneRows ? messages.at(-1)?.seq : undefined;
  const next = lastFound ?? after + scannedRows;
  return { messages, next: next < last ? next : null };
}

/** Milliseconds after which an unfinished run counts as over: its process is gone. */
export const longestRun = 3_600_000;

/** Milliseconds by which a receipt may precede the outcome of its submission. */
export const receiptsWait = 7 * 86_400_000;

/** Replaces the reason of a failure, which may contain the recipient. */
export const prunedText = 'pruned';

/** The body without its recipient; null if it has none. */
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
