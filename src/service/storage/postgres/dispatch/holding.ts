import { earlierMessages, longestWindow } from '../../caps.js';
import type { Holding } from '../../holding.js';
import type { Database } from '../database/database.js';
import type { ClaimedRow, ToClaimed } from './claimed-rows.js';

export function createHolding(
  database: Database,
  toClaimed: ToClaimed,
): Omit<Holding, 'countUnfinished' | 'held'> {
  /** Called before they must be gone: many leases take several statements. */
  async function endLeases(): Promise<void> {
    for (;;) {
      const [row] = await database.query<{ is_done: boolean }>(
        'SELECT :s.end_held_leases_1($1::bigint) AS is_done',
        [database.now()],
      );
      if (row?.is_done !== false) return;
    }
  }

  return {
    async hold(reason) {
      await database.query('SELECT :s.begin_hold_1($1::text)', [reason]);
    },
    async claimUnfinished({ token, leaseMs, limit }) {
      await endLeases();
      const rows = await database.query<ClaimedRow>(
        'SELECT * FROM :s.claim_unfinished_1($1::bigint, $2::text, $3::bigint, $4::int, $5::bigint, $6::int)',
        [database.now(), token, leaseMs, limit, longestWindow, earlierMessages],
      );
      return toClaimed(rows, token);
    },
    async release() {
      await endLeases();
      const [row] = await database.query<{ ended: boolean }>('SELECT :s.release_1($1::bigint) AS ended', [
        database.now(),
      ]);
      return row?.ended === true;
    },
  };
}
