import type { Instant } from '../store.js';
import type { Database } from './database/open.js';
import type { Projects } from './projects.js';

/** A reset under way is a lease of no message, so that it ends by itself when its process dies. */
const anyReset = "token >= 'reset:' AND token < 'reset;'";
/** Milliseconds. One that holds back for longer is from a future that a clock was set back from: it is over. */
const longestHold = 60_000;
const underWay = `${anyReset} AND until > :at AND until <= :at + ${longestHold}`;
const tokenOf = (owner: string) => `reset:${owner}`;

const emptied = [
  'verifications',
  'idempotency',
  'messages',
  'batches',
  'contents',
  'ledger',
  'clock_corrections',
];

/** Emptying the store. The functions write inside the transaction of their caller. */
export function prepareResets(database: Database, projects: Projects) {
  const selectAny = database.prepare(`SELECT 1 FROM leases WHERE ${underWay}`);
  const selectOther = database.prepare(`SELECT 1 FROM leases WHERE ${underWay} AND token <> :token`);
  const upsert = database.prepare(
    `INSERT INTO leases (token, until, first_message, last_message, open) VALUES (?, ?, 0, -1, 1)
     ON CONFLICT DO UPDATE SET until = excluded.until`,
  );
  const prolong = database.prepare(`UPDATE leases SET until = ? WHERE ${anyReset}`);
  const remove = database.prepare('DELETE FROM leases WHERE token = ?');
  const removeOthers = database.prepare(`DELETE FROM leases WHERE ${anyReset} AND token <> ?`);
  const selectUnfinished = database.prepare(
    `SELECT m.id, m.recipient FROM leases l
       JOIN messages m ON m.seq BETWEEN l.first_message AND l.last_message AND m.lease = l.token
     UNION ALL
     SELECT id, recipient FROM messages WHERE due_at IS NOT NULL AND attempts > 0`,
  );

  return {
    isUnderWay: (at: Instant) => selectAny.get({ at }) !== undefined,
    begin(owner: string, at: Instant, until: Instant): boolean {
      const token = tokenOf(owner);
      if (selectOther.get({ at, token }) !== undefined) return false;
      removeOthers.run(token);
      upsert.run(token, until);
      return true;
    },
    empty(balance: number, at: Instant, until: () => Instant): { id: string; to: string }[] {
      const messages = selectUnfinished.all() as { id: string; recipient: string }[];
      for (const table of emptied) database.exec(`DELETE FROM ${table}`);
      database.exec(`DELETE FROM leases WHERE NOT (${anyReset})`);
      for (const { id } of projects.listProjects()) {
        const project = projects.numberOf(id);
        database.exec(`UPDATE projects SET balance = 0 WHERE seq = ${project}`);
        projects.move(project, balance, 'opening', null, at);
      }
      prolong.run(until());
      return messages.map(({ id, recipient }) => ({ id, to: recipient }));
    },
    end(owner: string): void {
      remove.run(tokenOf(owner));
    },
  };
}

export type Resets = ReturnType<typeof prepareResets>;
