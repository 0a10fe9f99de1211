import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from './database/database.js';
import { StatementError, unavailable } from './database/failure.js';

/** Milliseconds that callers wait for a commit whose answer was lost, and between attempts. */
const callersWait = 5_000;
const tryEvery = 100;
/** The shortest and longest milliseconds between attempts to disown; they double each time. */
const firstPause = 500;
const longestPause = 10_000;

/** A send, or a group of sends, whose commit may be lost. */
export interface LostItem {
  project: string;
  /** The messages that it marks for this process. */
  messages: readonly string[];
  doubt_ms?: number | null;
}

/** A mark whose commit may be lost. */
export interface LostMark {
  doubt_ms: number;
}

/** Writes that may have been committed without this process knowing. */
export interface Lost {
  /** Records that nobody has submitted these messages; tries until that is written, or their doubt is over. */
  disown(items: readonly LostItem[]): void;
  /** Clears marks from which nothing was submitted; tries for as long. */
  unmark(marks: readonly LostMark[]): void;
  report(error: unknown): void;
  close(): void;
}

export function createLost(database: Database, report: (error: unknown) => void): Lost {
  const closing = new AbortController();

  async function write(
    items: readonly { doubt_ms?: number | null }[],
    text: string,
    values: () => unknown[],
  ): Promise<void> {
    const end = performance.now() + Math.max(...items.map(({ doubt_ms }) => doubt_ms ?? 0));
    for (let tries = 0; !closing.signal.aborted && performance.now() < end; tries += 1) {
      try {
        await database.attempt(text, values());
        return;
      } catch (error) {
        if (tries === 0) report(error);
        const milliseconds = Math.min(firstPause * 2 ** tries, longestPause);
        await pause(milliseconds, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      }
    }
  }

  return {
    disown(items) {
      const marked = items.filter(({ messages }) => messages.length > 0);
      if (marked.length === 0) return;
      const projects = [...new Set(marked.map(({ project }) => project))];
      const ids = marked.flatMap(({ messages }) => messages);
      void write(marked, 'SELECT :s.disown_1($1::bigint, $2::text[], $3::text[])', () => [
        database.now(),
        projects,
        ids,
      ]);
    },
    unmark: (marks) => void write(marks, 'SELECT :s.unmark_1($1::json)', () => [JSON.stringify(marks)]),
    report,
    close: () => closing.abort(),
  };
}

/**
 * Repeats a call if nobody knows whether it was committed, while its callers wait. Never a read, which may show what
 * a failover still loses. Whatever an earlier call accepted is disowned.
 */
export async function repeatLost<Item extends LostItem, Row extends { is_known: boolean }>(
  lost: Lost,
  items: readonly Item[],
  call: () => Promise<Row[]>,
): Promise<Row[]> {
  const end = performance.now() + callersWait;
  let isLost = false;
  for (;;) {
    try {
      const rows = await call();
      lost.disown(items.filter((_, index) => rows[index]?.is_known));
      return rows;
    } catch (error) {
      const failure = error instanceof StatementError ? error.failure : 'refused';
      if (failure === 'unknown') {
        if (!isLost) lost.report(error);
        isLost = true;
      }
      if (failure === 'refused' || (failure === 'conflict' && !isLost)) throw error;
      if (!isLost) throw unavailable();
      if (performance.now() >= end) {
        // Its callers get an unknown outcome; after that the call is never repeated.
        lost.disown(items);
        throw unavailable();
      }
      await pause(tryEvery);
    }
  }
}
