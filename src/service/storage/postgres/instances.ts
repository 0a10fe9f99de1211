import { type InstanceRow, type Instances, type LeftRow, toInstance, toLeftEnded } from '../instances.js';
import type { Database } from './database/database.js';

export function createInstances(database: Database): Instances {
  return {
    async beat({ id, version, address, carriers, lastMinute }) {
      await database.query('SELECT :s.beat_1($1::bigint, $2::text, $3::text, $4::text, $5::text, $6::text)', [
        database.now(),
        id,
        version,
        address,
        JSON.stringify(carriers),
        JSON.stringify(lastMinute),
      ]);
    },
    async list() {
      const rows = await database.query<InstanceRow>(
        `SELECT id, version, address, carriers, queue, greatest(0, at - seen_at) AS seen_ms
         FROM :s.instances, :s.time_1($1::bigint) at WHERE :s.is_fresh_1(seen_at, at) ORDER BY id`,
        [database.now()],
      );
      return rows.map(toInstance);
    },
    async leave(id) {
      await database.query('DELETE FROM :s.instances WHERE id = $1', [id]);
    },
    async leaveEnded(ended) {
      await database.query('INSERT INTO :s.left_ended (ended, at) VALUES ($2, :s.time_1($1::bigint))', [
        database.now(),
        JSON.stringify(ended),
      ]);
    },
    async listEnded() {
      const rows = await database.query<LeftRow>(
        'SELECT ended, :s.time_1($1::bigint) - at AS for_ms FROM :s.left_ended ORDER BY seq',
        [database.now()],
      );
      return toLeftEnded(rows);
    },
    async takeEnded() {
      const rows = await database.query<LeftRow>(
        'DELETE FROM :s.left_ended RETURNING ended, :s.time_1($1::bigint) - at AS for_ms',
        [database.now()],
      );
      return toLeftEnded(rows);
    },
  };
}
