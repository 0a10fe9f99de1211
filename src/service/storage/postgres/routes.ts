import type { LaneControl, LanePause, StopCounts } from '../lanes.js';
import type { RouteBinds } from '../route-limits.js';
import type { Database } from './database/database.js';

/** `lanes` is null if nothing was stopped. */
type StoppedRow = Omit<StopCounts, 'lanes'> & { lanes: StopCounts['lanes'] | null };

/** `done`: notifies every instance that there may be work, or no more. */
export function createRoutes(database: Database, done: () => void): RouteBinds & LaneControl {
  return {
    async leaseBind({ route, binds, holder, leaseMs }) {
      const [row] = await database.query<{ is_leased: boolean }>(
        'SELECT lease_bind_1($1, $2, $3, $4, $5, $6) AS is_leased',
        [database.now(), route, binds, holder, leaseMs, Math.floor(database.connectedMs())],
      );
      return row?.is_leased === true;
    },
    async releaseBind({ route, holder }) {
      await database.query('SELECT release_bind_1($1, $2)', [route, holder]);
    },
    lanePauses: () =>
      database.query<LanePause>('SELECT lane, paused_at AS "pausedAt" FROM lane_pauses ORDER BY lane'),
    async pauseLane(name) {
      await database.query('SELECT pause_lane_1($1, $2)', [database.now(), name]);
      done();
    },
    async resumeLane(name) {
      await database.query('SELECT resume_lane_1($1)', [name]);
      done();
    },
    async stopBatch(id, { code, message }) {
      const [row] = await database.query<StoppedRow>('SELECT * FROM stop_batch_2($1, $2, $3, $4)', [
        database.now(),
        id,
        code,
        message,
      ]);
      done();
      return row === undefined ? null : { ...row, lanes: row.lanes ?? [] };
    },
  };
}
