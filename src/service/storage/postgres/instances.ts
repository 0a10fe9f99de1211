import { type InstanceRow, type Instances, toInstance } from '../instances.js';
import type { Database } from './database/database.js';

export function createInstances(database: Database): Instances {
  return {
    async beat({ id, version, address, carriers, lastMinute }) {
      await database.query('SELECT beat_1($1, $2, $3, $4, $5, $6)', [
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
         FROM instances, time_1($1) at WHERE is_fresh_1(seen_at, at) ORDER BY id`,
        [database.now()],
      );
      return rows.map(toInstance);
    },
    async leave(id) {
      await database.query('DELETE FROM instances WHERE id = $1', [id]);
    },
  };
}
