import { type Heartbeat, type Instance, type InstanceRow, staleAfter, toInstance } from '../instances.js';
import type { Instant } from '../records.js';
import type { Database } from './database/database.js';

/** Heartbeats. The functions run inside the transaction of their caller. */
export function prepareInstances(database: Database, now: () => Instant) {
  const upsert = database.prepare(
    `INSERT INTO instances (id, version, address, carriers, queue, seen_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET version = excluded.version, address = excluded.address, carriers = excluded.carriers,
       queue = excluded.queue, seen_at = excluded.seen_at`,
  );
  // One that is later than now was written before the clock was set back.
  const isFresh = `seen_at BETWEEN :now - ${staleAfter} AND :now + ${staleAfter}`;
  const removeStale = database.prepare(`DELETE FROM instances WHERE NOT (${isFresh})`);
  const select = database.prepare(
    `SELECT id, version, address, carriers, queue, max(0, :now - seen_at) AS seen_ms FROM instances
     WHERE ${isFresh} ORDER BY id`,
  );
  const remove = database.prepare('DELETE FROM instances WHERE id = ?');

  return {
    beat({ id, version, address, carriers, lastMinute }: Heartbeat): void {
      const at = now();
      removeStale.run({ now: at });
      upsert.run(id, version, address, JSON.stringify(carriers), JSON.stringify(lastMinute), at);
    },
    list: (): Instance[] => (select.all({ now: now() }) as unknown as InstanceRow[]).map(toInstance),
    leave(id: string): void {
      remove.run(id);
    },
  };
}
