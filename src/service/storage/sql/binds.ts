import type { RouteBinds } from '../route-limits.js';
import { leaseTolerance } from '../shared/clock-tolerance.js';
import { isGone, thisProcess } from '../shared/processes.js';
import { alone, query, type Sql } from './sql.js';

interface BindRow {
  number: number;
  process: string;
  until: number;
  length: number;
  now: number;
}

/** Which connection of which process has which bind of a route. */
export function createBinds(sql: Sql): RouteBinds {
  function isFree({ until, length, process, now }: BindRow): boolean {
    // A lease that ends later than possible was granted before the clock was set back, and has expired.
    if (until > now + length + leaseTolerance || isGone(process)) return true;
    return until <= now && sql.connectedMs() >= length;
  }

  return {
    leaseBind: ({ route, binds, holder, leaseMs }) =>
      sql.transact(function* () {
        yield* alone(`binds ${route}`);
        const renewed = yield* query(
          `UPDATE :s.binds SET until = :now + :leaseMs::bigint, length = :leaseMs::bigint
           WHERE route = :route AND holder = :holder RETURNING number`,
          { route, holder, leaseMs },
        );
        if (renewed.length > 0) return true;
        const rows = yield* query<BindRow>('SELECT *, :now AS now FROM :s.binds WHERE route = :route', {
          route,
        });
        const taken = new Map(rows.map((row) => [row.number, row]));
        const numbers = Array.from({ length: binds }, (_, index) => index + 1);
        const number = numbers.find((each) => {
          const row = taken.get(each);
          return row === undefined || isFree(row);
        });
        if (number === undefined) return false;
        yield* query(
          `INSERT INTO :s.binds (route, number, holder, process, until, length)
           VALUES (:route, :number, :holder, :process, :now + :leaseMs::bigint, :leaseMs::bigint)
           ON CONFLICT (route, number) DO UPDATE SET holder = excluded.holder, process = excluded.process,
             until = excluded.until, length = excluded.length`,
          { route, number, holder, process: thisProcess(), leaseMs },
        );
        return true;
      }),
    async releaseBind({ route, holder }) {
      await sql.write('DELETE FROM :s.binds WHERE route = :route AND holder = :holder AND :durable', {
        route,
        holder,
      });
    },
  };
}
