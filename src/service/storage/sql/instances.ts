import {
  type InstanceRow,
  type Instances,
  type LeftRow,
  staleAfter,
  toInstance,
  toLeftEnded,
} from '../instances.js';
import { query, type Sql } from './sql.js';

/** A heartbeat later than now was written before the clock was set back. */
export const isFresh = `seen_at BETWEEN :now - ${staleAfter} AND :now + ${staleAfter}`;

export function createInstances(sql: Sql): Instances {
  return {
    beat: ({ id, version, address, carriers, lastMinute }) =>
      sql.transact(function* () {
        yield* query(
          `DELETE FROM :s.instances WHERE id IN (
             SELECT id FROM :s.instances WHERE NOT (${isFresh}) :skipLocked)`,
        );
        yield* query(
          `INSERT INTO :s.instances (id, version, address, carriers, queue, seen_at)
           VALUES (:id, :version, :address, :carriers, :queue, :now)
           ON CONFLICT (id) DO UPDATE SET version = excluded.version, address = excluded.address,
             carriers = excluded.carriers, queue = excluded.queue, seen_at = excluded.seen_at`,
          { id, version, address, carriers: JSON.stringify(carriers), queue: JSON.stringify(lastMinute) },
        );
      }),
    async list() {
      const rows = await sql.read<InstanceRow>(
        `SELECT id, version, address, carriers, queue, :greatest(0, :now - seen_at) AS seen_ms
         FROM :s.instances WHERE ${isFresh} ORDER BY id`,
      );
      return rows.map(toInstance);
    },
    async leave(id) {
      await sql.write('DELETE FROM :s.instances WHERE id = :id', { id });
    },
    async leaveEnded(ended) {
      await sql.write('INSERT INTO :s.left_ended (ended, at) VALUES (:ended, :now)', {
        ended: JSON.stringify(ended),
      });
    },
    listEnded: async () =>
      toLeftEnded(
        await sql.read<LeftRow>('SELECT ended, :now - at AS for_ms FROM :s.left_ended ORDER BY seq'),
      ),
    takeEnded: async () =>
      toLeftEnded(await sql.write<LeftRow>('DELETE FROM :s.left_ended RETURNING ended, :now - at AS for_ms')),
  };
}
