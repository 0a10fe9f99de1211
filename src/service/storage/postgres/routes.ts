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
        'SELECT :s.lease_bind_1($1::bigint, $2::text, $3::int, $4::text, $5::bigint, $6::bigint) AS is_leased',
        [database.now(), route, binds, holder, leaseMs, Math.floor(database.connectedMs())],
      );
      return row?.is_leased === true;
    },
    async releaseBind({ route, holder }) {
      await database.query('SELECT :s.release_bind_1($1::text, $2::text)', [route, holder]);
    },
    lanePauses: () =>
      database.query<LanePause>('SELECT lane, paused_at AS "pausedAt" FROM :s.lane_pauses ORDER BY lane'),
    async pauseLane(name) {
      await database.query('SELECT :s.pause_lane_1($1::bigint, $2::text)', [database.now(), name]);
      done();
    },
    async resumeLane(name) {
      await database.query('SELECT :s.resume_lane_1($1::text)', [name]);
      done();
    },
    async stopBatch(id, { code, message }) {
      const [row] = await database.query<StoppedRow>(
        'SELECT * FROM :s.stop_batch_2($1::bigint, $2::text, $3::text, $4::text)',
        [database.now(), id, code, message],
      );
      done();
      return row === undefined ? null : { ...row, lanes: row.lanes ?? [] };
    },
  };
}
