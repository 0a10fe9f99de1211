import type { Clock } from '../../../clock.js';
import { type Dispatching, overdueBefore } from '../../dispatching.js';
import { farthestDue, firstDelay, longestDelay } from '../../shared/clock-tolerance.js';
import { lookAgain } from '../../shared/quiet.js';
import type { Database } from '../database/database.js';
import type { Holds } from './holds.js';
import type { Leases } from './leases.js';
import { isOfList, type Quiet } from './quiet.js';
import { prepareTurns } from './turns.js';

interface WorkParts {
  leases: Leases;
  holds: Holds;
  quiet: Quiet;
}

interface FirstRow {
  at: number;
  farthest: number;
}

type Work = Awaited<ReturnType<Dispatching['nextWork']>>;

/** When a dispatcher has something to do. */
export function prepareWork(database: Database, { leases, holds, quiet }: WorkParts, clock: Clock) {
  const waiting = `lane = :lane AND ${isOfList} = :isBatch AND route IS NULL AND due_at IS NOT NULL`;
  const doubtful = 'lane = :lane AND route IS NOT NULL AND due_at IS NOT NULL';
  const first = (what: string, condition: string, farthest: string | number = farthestDue) => {
    const select = database.prepare(
      `SELECT ${what} AS at, ${farthest} AS farthest FROM messages WHERE ${condition} ORDER BY ${what} LIMIT 1`,
    );
    return (given: Record<string, number | string>) => select.get(given) as FirstRow | undefined;
  };
  const firstDue = first('due_at', waiting);
  const firstOverdue = first('bound_at', `${waiting} AND bound_at IS NOT NULL`);
  const firstDoubt = first('due_at', doubtful, firstDelay);
  const selectPaused = database.prepare('SELECT lane FROM lane_pauses');
  const turns = prepareTurns(database);
  const selectDue = database.prepare(
    `SELECT 1 FROM (SELECT due_at, ${isOfList} AS is_listed, project FROM messages
         WHERE due_at IS NOT NULL AND route IS NULL
       UNION ALL SELECT due_at, 0, project FROM messages WHERE due_at IS NOT NULL AND route IS NOT NULL)
     WHERE (due_at <= :now OR due_at > :now + :longest)
       AND NOT (is_listed AND project IN (SELECT value FROM json_each(:quiet))) LIMIT 1`,
  );
  const waitsOf = (isBatch: 0 | 1) =>
    `EXISTS (SELECT 1 FROM messages INDEXED BY messages_turns WHERE lane = :lane AND ${isOfList} = ${isBatch}
       AND due_at IS NOT NULL AND route IS NULL AND project = p.seq)`;
  const selectWaiting = database.prepare(
    `SELECT 1 FROM projects p WHERE p.id = :project AND (${waitsOf(0)} OR ${waitsOf(1)})`,
  );

  return {
    nextWork(names: readonly string[]): Work {
      const now = clock.now();
      const times: Record<'messages' | 'overdue' | 'doubts', number[]> = {
        messages: [],
        overdue: [],
        doubts: [],
      };
      const add = (to: number[], row: FirstRow | undefined) => {
        if (row === undefined) return;
        // A time that only a clock set back explains is due at once.
        to.push(row.at > now + row.farthest ? 0 : row.at - now);
      };
      const quietNow = quiet.now();
      // Nothing can be claimed while the store is held.
      for (const lane of holds.reason() === null ? names : []) {
        for (const isBatch of [0, 1]) {
          const row = firstDue({ lane, isBatch });
          // It may be due for a project that is quiet.
          if (row === undefined || !isBatch || quietNow.size === 0) add(times.messages, row);
          else if (turns.isAnyDue({ lane, class: 'batch' }, quietNow, now)) times.messages.push(0);
          else times.messages.push(Math.max(row.at - now, lookAgain));
          const overdue = firstOverdue({ lane, isBatch });
          const before = isBatch ? overdueBefore.batch : overdueBefore.single;
          if (overdue !== undefined) times.overdue.push(overdue.at - before - now);
        }
        add(times.doubts, firstDoubt({ lane }));
      }
      const least = (waits: number[]) => (waits.length === 0 ? null : Math.min(...waits));
      return {
        messages: least(times.messages),
        overdue: least(times.overdue),
        doubts: least(times.doubts),
        leases: leases.untilEnd(),
        paused: (selectPaused.all() as { lane: string }[]).map(({ lane }) => lane),
      };
    },
    hasDue: (): boolean =>
      leases.isAny() ||
      (holds.reason() === null &&
        selectDue.get({
          now: clock.now(),
          longest: longestDelay,
          quiet: JSON.stringify([...quiet.now()]),
        }) !== undefined),
    findWaiting: (lane: string, projects: readonly string[]): string[] =>
      projects.filter((project) => selectWaiting.get({ lane, project }) !== undefined),
  };
}
