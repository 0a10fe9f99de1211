import type { Instant } from '../../records.js';
import type { Database } from '../database/database.js';
import type { Projects } from '../projects.js';

/** A running reset is a lease without messages, so that it ends by itself if its process dies. */
export const anyReset = "token >= 'reset:' AND token < 'reset;'";
/** Milliseconds. A reset that holds back for longer was started before the clock was set back, and is over. */
const longestHold = 60_000;
const underWay = (at: string) => `${anyReset} AND until - ${at} BETWEEN 1 AND ${longestHold}`;
/** True while a reset holds back everything new. */
export const resetUnderWay = (at: string) => `EXISTS (SELECT 1 FROM leases WHERE ${underWay(at)})`;
const tokenOf = (owner: string) => `reset:${owner}`;

const emptied = [
  'verifications',
  'idempotency',
  'messages',
  'batches',
  'contents',
  'ledger',
  'receipts',
  'clock_corrections',
  'message_blocks',
  'inbox',
  'suppressions',
  'erasures',
  'turns',
  'requests',
  'events',
  'event_lines',
];

/** Empties the store. The functions write inside their caller's transaction. */
export function prepareResets(database: Database, projects: Projects, now: () => Instant) {
  const selectAny = database.prepare(`SELECT 1 FROM leases WHERE ${underWay(':at')}`);
  const selectOther = database.prepare(`SELECT 1 FROM leases WHERE ${underWay(':at')} AND token <> :token`);
  const upsert = database.prepare(
    `INSERT INTO leases (token, until, length, first_message, last_message, open) VALUES (?, ?, ?, 0, -1, 1)
     ON CONFLICT DO UPDATE SET until = excluded.until, length = excluded.length`,
  );
  const prolong = database.prepare(`UPDATE leases SET until = ?, length = ? WHERE ${anyReset}`);
  const remove = database.prepare('DELETE FROM leases WHERE token = ?');
  const removeOthers = database.prepare(`DELETE FROM leases WHERE ${anyReset} AND token <> ?`);
  const selectMarked = database.prepare(
    `SELECT id, recipient FROM messages WHERE status = 'queued' AND route IS NOT NULL`,
  );

  return {
    isUnderWay: () => selectAny.get({ at: now() }) !== undefined,
    begin(owner: string, holdMs: number): boolean {
      const token = tokenOf(owner);
      if (selectOther.get({ at: now(), token }) !== undefined) return false;
      removeOthers.run(token);
      upsert.run(token, now() + holdMs, holdMs);
      return true;
    },
    empty(balance: number, holdMs: number): { id: string; to: string }[] {
      const messages = selectMarked.all() as { id: string; recipient: string }[];
      for (const table of emptied) database.exec(`DELETE FROM ${table}`);
      database.exec(`DELETE FROM leases WHERE NOT (${anyReset})`);
      for (const id of projects.ids()) {
        const project = projects.numberOf(id);
        database.exec(`UPDATE projects SET balance = 0, line = NULL WHERE seq = ${project}`);
        projects.move(project, balance, 'opening', null);
      }
      prolong.run(now() + holdMs, holdMs);
      return messages.map(({ id, recipient }) => ({ id, to: recipient }));
    },
    end(owner: string): void {
      remove.run(tokenOf(owner));
    },
  };
}

export type Resets = ReturnType<typeof prepareResets>;
