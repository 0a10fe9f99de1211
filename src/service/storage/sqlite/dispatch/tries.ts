import type { Instant } from '../../records.js';
import { type Tried, type TriedRun, withTried } from '../../tried.js';
import type { Database } from '../database/database.js';

const none: readonly TriedRun[] = [];

/** As stored; null for a message that no carrier has deferred. */
export const triedOf = (stored: string | null): readonly TriedRun[] =>
  stored === null ? none : (JSON.parse(stored) as TriedRun[]);

/** Answers to attempts that were not accepted. Written inside the caller's transaction. */
export function prepareTries(database: Database) {
  const select = database.prepare('SELECT tried FROM messages WHERE seq = ?');
  const update = database.prepare('UPDATE messages SET tried = ? WHERE seq = ?');

  return {
    record(seq: number, answer: Tried | undefined, at: Instant): void {
      if (answer === undefined) return;
      const { tried } = select.get(seq) as { tried: string | null };
      update.run(JSON.stringify(withTried(triedOf(tried), answer, at)), seq);
    },
  };
}

export type Tries = ReturnType<typeof prepareTries>;
