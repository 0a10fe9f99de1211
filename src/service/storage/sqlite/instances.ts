import {
  type Ended,
  type Heartbeat,
  type Instance,
  type InstanceRow,
  type LeftRow,
  staleAfter,
  toInstance,
  toLeftEnded,
} from '../instances.js';
import type { Instant } from '../records.js';
import type { Database } from './database/database.js';

/** Heartbeats. The functions run inside their caller's transaction. */
export function prepareInstances(database: Database, now: () => Instant) {
  const upsert = database.prepare(
    `INSERT INTO instances (id, version, address, carriers, queue, seen_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET version = excluded.version, address = excluded.address, carriers = excluded.carriers,
       queue = excluded.queue, seen_at = excluded.seen_at`,
  );
  // A heartbeat later than now was written before the clock was set back.
  const isFresh = `seen_at BETWEEN :now - ${staleAfter} AND :now + ${staleAfter}`;
  const removeStale = database.prepare(`DELETE FROM instances WHERE NOT (${isFresh})`);
  const select = database.prepare(
    `SELECT id, version, address, carriers, queue, max(0, :now - seen_at) AS seen_ms FROM instances
     WHERE ${isFresh} ORDER BY id`,
  );
  const remove = database.prepare('DELETE FROM instances WHERE id = ?');
  const insertEnded = database.prepare('INSERT INTO left_ended (ended, at) VALUES (?, ?)');
  const selectEnded = database.prepare('SELECT ended, ? - at AS for_ms FROM left_ended ORDER BY seq');
  const removeEnded = database.prepare('DELETE FROM left_ended');
  const listEnded = () => toLeftEnded(selectEnded.all(now()) as unknown as LeftRow[]);

  return {
    beat({ id, version, address, carriers, lastMinute }: Heartbeat): void {
      const at = now();
      removeStale.run({ now: at });
      upsert.run(id, version, address, JSON.stringify(carriers), JSON.stringify(lastMinute), at);
    },
    /**
     * Writes more pages than a send, which a full disk does not take: SQLite writes only those that differ. The row is
     * stale, so nobody lists it, and the next heartbeat removes it.
     */
    probe(): void {
      upsert.run('', '', null, '[]', `${now()} `.repeat(6_000), 0);
    },
    list: (): Instance[] => (select.all({ now: now() }) as unknown as InstanceRow[]).map(toInstance),
    leave(id: string): void {
      remove.run(id);
    },
    leaveEnded(ended: readonly Ended[]): void {
      insertEnded.run(JSON.stringify(ended), now());
    },
    listEnded,
    takeEnded() {
      const ended = listEnded();
      if (ended.length > 0) removeEnded.run();
      return ended;
    },
  };
}
