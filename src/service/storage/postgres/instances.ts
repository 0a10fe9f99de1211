import { type InstanceRow, type Instances, type LeftRow, toInstance, toLeftEnded } from '../instances.js';
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
    async leaveEnded(ended) {
      await database.query('INSERT INTO left_ended (ended, at) VALUES ($2, time_1($1))', [
        database.now(),
        JSON.stringify(ended),
      ]);
    },
    async listEnded() {
      const rows = await database.query<LeftRow>(
        'SELECT ended, time_1($1) - at AS for_ms FROM left_ended ORDER BY seq',
        [database.now()],
      );
      return toLeftEnded(rows);
    },
    async takeEnded() {
      const rows = await database.query<LeftRow>(
        'DELETE FROM left_ended RETURNING ended, time_1($1) - at AS for_ms',
        [database.now()],
      );
      return toLeftEnded(rows);
    },
  };
}
