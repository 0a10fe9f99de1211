import type { Instant, Lease } from '../store.js';
import { longestLease } from '../times.js';
import type { Database } from './database/open.js';

interface LeaseRow {
  token: string;
  until: number;
  first_message: number;
  last_message: number;
  open: number;
}

/** Who hands over what until when. The functions write inside the transaction of their caller. */
export function prepareLeases(database: Database) {
  const insert = database.prepare(
    'INSERT INTO leases (token, until, first_message, last_message, open) VALUES (?, ?, ?, ?, ?)',
  );
  const renew = database.prepare('UPDATE leases SET until = ? WHERE token = ?');
  const close = database.prepare('DELETE FROM leases WHERE token = ? AND open <= ?');
  const shrink = database.prepare('UPDATE leases SET open = open - ? WHERE token = ?');
  const selectExpired = database.prepare('SELECT * FROM leases WHERE until <= ? OR until > ?');
  const select = database.prepare('SELECT * FROM leases WHERE token = ?');
  const remove = database.prepare('DELETE FROM leases WHERE token = ?');
  const freeMessages = database.prepare(
    'UPDATE messages SET lease = NULL, due_at = ? WHERE seq BETWEEN ? AND ? AND lease = ?',
  );
  const selectEnds = database.prepare('SELECT min(until) AS first, max(until) AS last FROM leases');

  return {
    open({ token, until }: Lease, first: number, last: number, messages: number): void {
      insert.run(token, until, first, last, messages);
    },
    find: (token: string) => select.get(token) as LeaseRow | undefined,
    /** False when the lease is no longer there. */
    renew: (token: string, until: Instant) => renew.run(until, token).changes === 1,
    /** Messages of the lease that are settled or given back. */
    giveBack(token: string, messages: number): void {
      if (messages > 0 && close.run(token, messages).changes === 0) shrink.run(messages, token);
    },
    /** Makes the messages of leases that have ended due again. */
    endExpired(now: Instant): void {
      for (const row of selectExpired.all(now, now + longestLease) as LeaseRow[]) {
        freeMessages.run(Math.min(row.until, now), row.first_message, row.last_message, row.token);
        remove.run(row.token);
      }
    },
    /** When the first lease ends; null when there is none. */
    nextEnd(now: Instant): Instant | null {
      const { first, last } = selectEnds.get() as { first: number | null; last: number | null };
      return last !== null && last > now + longestLease ? now : first;
    },
  };
}

export type Leases = ReturnType<typeof prepareLeases>;
