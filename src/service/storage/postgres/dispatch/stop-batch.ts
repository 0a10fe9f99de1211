import type { LaneControl, StopCounts } from '../../lanes.js';
import type { Database } from '../database/database.js';

/** `lanes` is null if nothing was stopped. */
type StoppedRow = Omit<StopCounts, 'lanes'> & { lanes: StopCounts['lanes'] | null };

export function createStopBatch(database: Database): LaneControl['stopBatch'] {
  return async (id, { code, message }) => {
    const [row] = await database.query<StoppedRow>(
      'SELECT * FROM :s.stop_batch_2($1::bigint, $2::text, $3::text, $4::text)',
      [database.now(), id, code, message],
    );
    return row === undefined ? null : { ...row, lanes: row.lanes ?? [] };
  };
}
