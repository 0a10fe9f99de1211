import type { LaneControl, LanePause } from '../lanes.js';
import type { Store } from '../store.js';
import { query, type Sql } from './sql.js';

/** The lanes of real carriers, and those that their owner has paused. */
export function createLanes(sql: Sql): Pick<Store, 'recordLanes'> & Omit<LaneControl, 'stopBatch'> {
  return {
    async recordLanes(names) {
      if (names.length > 0) {
        await sql.transact(function* () {
          // In one order: others record them too.
          for (const name of [...names].sort())
            yield* query('INSERT INTO :s.lanes (name) VALUES (:name) ON CONFLICT (name) DO NOTHING', {
              name,
            });
        });
      }
      const rows = await sql.read<{ name: string }>('SELECT name FROM :s.lanes ORDER BY name');
      return rows.map(({ name }) => name);
    },
    lanePauses: () =>
      sql.read<LanePause>('SELECT lane, paused_at AS "pausedAt" FROM :s.lane_pauses ORDER BY lane'),
    async pauseLane(lane) {
      await sql.write(
        `INSERT INTO :s.lane_pauses (lane, paused_at) SELECT :lane::text, :now WHERE :durable
         ON CONFLICT (lane) DO NOTHING`,
        { lane },
      );
    },
    async resumeLane(lane) {
      await sql.write('DELETE FROM :s.lane_pauses WHERE lane = :lane AND :durable', { lane });
    },
  };
}
