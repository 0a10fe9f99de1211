import type { Clock } from '../../../clock.js';
import type { BindClaim } from '../../route-limits.js';
import { leaseTolerance } from '../../shared/clock-tolerance.js';
import type { Database } from '../database/database.js';
import { isGone, thisProcess } from '../processes.js';

interface BindRow {
  number: number;
  holder: string;
  process: string;
  until: number;
  length: number;
}

/**
 * Which connection of which process has which bind of a route. The functions write inside their caller's transaction.
 */
export function prepareBinds(database: Database, clock: Clock) {
  const selectAll = database.prepare('SELECT * FROM binds WHERE route = ?');
  const renew = database.prepare('UPDATE binds SET until = ?, length = ? WHERE route = ? AND holder = ?');
  const upsert = database.prepare(
    `INSERT INTO binds (route, number, holder, process, until, length) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET holder = excluded.holder, process = excluded.process, until = excluded.until,
       length = excluded.length`,
  );
  const remove = database.prepare('DELETE FROM binds WHERE route = ? AND holder = ?');
  const connectedAt = clock.monotonic();

  function isFree({ until, length, process }: BindRow, now: number): boolean {
    // A lease that ends later than possible was granted before the clock was set back, and has expired.
    if (until > now + length + leaseTolerance || isGone(process)) return true;
    return until <= now && clock.monotonic() - connectedAt >= length;
  }

  return {
    lease({ route, binds, holder, leaseMs }: BindClaim & { leaseMs: number }): boolean {
      const now = clock.now();
      if (renew.run(now + leaseMs, leaseMs, route, holder).changes === 1) return true;
      const taken = new Map((selectAll.all(route) as BindRow[]).map((row) => [row.number, row]));
      for (let number = 1; number <= binds; number += 1) {
        const row = taken.get(number);
        if (row !== undefined && !isFree(row, now)) continue;
        upsert.run(route, number, holder, thisProcess(), now + leaseMs, leaseMs);
        return true;
      }
      return false;
    },
    release({ route, holder }: Pick<BindClaim, 'route' | 'holder'>): void {
      remove.run(route, holder);
    },
  };
}
