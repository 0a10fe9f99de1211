import { type RouteBinds, type RouteDay, type RouteDays, takeOfDay } from '../route-limits.js';
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

interface DayRow {
  slots: string;
  reached_at: number | null;
  now: number;
}

/** How much of what its carrier takes in a day each route has used. */
export function createDays(sql: Sql): RouteDays {
  return {
    takeOfDay: (wanted) =>
      sql.transact(function* () {
        const { route } = wanted;
        yield* alone(`day ${route}`);
        const [row] = yield* query<DayRow>(
          `SELECT d.slots, d.reached_at, n.now FROM (SELECT :now AS now) n
           LEFT JOIN :s.route_days d ON d.route = :route`,
          { route },
        );
        const known: RouteDay = { slots: JSON.parse(row?.slots ?? '[]'), reachedAt: row?.reached_at ?? null };
        const { day, ...permits } = takeOfDay(known, wanted, row?.now ?? 0);
        if (JSON.stringify(day) !== JSON.stringify(known))
          yield* query(
            `INSERT INTO :s.route_days (route, slots, reached_at) VALUES (:route, :slots, :reachedAt::bigint)
             ON CONFLICT (route) DO UPDATE SET slots = excluded.slots, reached_at = excluded.reached_at`,
            { route, slots: JSON.stringify(day.slots), reachedAt: day.reachedAt },
          );
        return permits;
      }),
  };
}
