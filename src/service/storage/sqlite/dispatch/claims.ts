import type { Clock } from '../../../clock.js';
import {
  type ClaimedMessage,
  type Mark,
  type Marked,
  type MessageClaim,
  overdueBefore,
  type Postponement,
} from '../../dispatching.js';
import { farthestDue, firstDelay } from '../../shared/clock-tolerance.js';
import { groupBy } from '../../shared/group-by.js';
import { inTurn } from '../../shared/turns.js';
import type { Refusals } from '../accept/refusals.js';
import type { Suppressed } from '../accept/suppressed.js';
import type { Database } from '../database/database.js';
import type { Projects } from '../projects.js';
import { type ClaimedRow, claimedColumns, prepareClaimedRows } from './claimed-rows.js';
import type { Leases } from './leases.js';
import { isOfList, type Quiet } from './quiet.js';
import type { Receipts } from './receipts.js';
import { runsOf } from './runs.js';
import { isInOpenLane } from './stop-batch.js';
import type { Tries } from './tries.js';
import { prepareTurns } from './turns.js';

const doubtful = 'lane = :lane AND route IS NOT NULL';
const waiting = `lane = :lane AND ${isOfList} = :isBatch AND route IS NULL`;

/** The fence of a marked message. It includes the id, because numbers are reused after a reset. */
export const isMarked = `seq = :seq AND id = :id AND status = 'queued' AND route IS NOT NULL AND attempts = :attempt`;
/** The fence of an unmarked message. */
export const isLeased = `seq = :seq AND id = :id AND status = 'queued' AND route IS NULL AND lease = :token`;

/** Claims, marks and doubts. The functions write inside their caller's transaction. */
export function prepareClaims(
  database: Database,
  projects: Projects,
  { leases, refusals, suppressed, tries, receipts, requests, quiet }: ClaimParts,
  clock: Clock,
) {
  const selectRows = (condition: string) => {
    const select = database.prepare(`SELECT ${claimedColumns} FROM messages m WHERE ${condition}`);
    select.setReturnArrays(true);
    return select;
  };
  const claimedOf = prepareClaimedRows(database, projects, { refusals, receipts }, clock);
  const turns = prepareTurns(database);
  const selectDue = selectRows(
    `${waiting} AND project = :project AND batch IS :batch AND due_at <= :now ORDER BY due_at, seq LIMIT :limit`,
  );
  const selectOverdue = selectRows(
    `${waiting} AND due_at IS NOT NULL AND bound_at <= :now + :before AND (due_at <= :now OR bound_at <= :now)
     ORDER BY bound_at, seq LIMIT :limit`,
  );
  const selectDoubts = selectRows(`${doubtful} AND due_at <= :now ORDER BY due_at, seq LIMIT :limit`);
  const selectOne = selectRows('seq = :seq');
  // One statement for a run of neighbours takes a tenth of the time of one for each.
  const claimRun = database.prepare(
    `UPDATE messages SET lease = :token, due_at = NULL
     WHERE seq BETWEEN :first AND :last AND lane = :lane AND due_at IS NOT NULL`,
  );
  const markRun = database.prepare(
    `UPDATE messages SET route = :route, attempts = :attempt, doubt_ms = :doubtMs, marked_at = :now
     WHERE seq BETWEEN :first AND :last AND lease = :token AND attempts = :attempt - 1 AND ${isInOpenLane}`,
  );
  const countRun = database.prepare(
    `SELECT count(*) AS messages FROM messages
     WHERE seq BETWEEN ? AND ? AND lease = ? AND attempts = ? AND ${isInOpenLane}`,
  );
  const giveBackMarked = database.prepare(
    `UPDATE messages SET lease = NULL, route = NULL, doubt_ms = NULL, doubt_until = NULL, due_at = :at,
       lane = :lane, tries = tries + :tries WHERE ${isMarked}`,
  );
  const giveBackLeased = database.prepare(
    `UPDATE messages SET lease = NULL, due_at = :at, lane = :lane, tries = tries + :tries WHERE ${isLeased}`,
  );
  const doubt = database.prepare(
    `UPDATE messages SET lease = NULL, due_at = :at, doubt_until = coalesce(doubt_until, :now + doubt_ms)
     WHERE ${isMarked}`,
  );
  // Includes the first one, which is what a dispatcher looks at: many others may wait for good reason.
  const farAhead = `SELECT seq, due_at, ${farthestDue} AS farthest FROM messages
    WHERE ${waiting} AND due_at > :now + ${firstDelay}`;
  const bringWaitingForward = database.prepare(
    `UPDATE messages SET due_at = :now WHERE seq IN (
       SELECT seq FROM (
         SELECT * FROM (${farAhead} ORDER BY due_at DESC LIMIT :limit)
         UNION SELECT * FROM (${farAhead} ORDER BY due_at LIMIT 1))
       WHERE due_at > :now + farthest)`,
  );
  const bringDoubtsForward = database.prepare(
    `UPDATE messages SET due_at = :now WHERE seq IN (
       SELECT seq FROM messages WHERE ${doubtful} AND due_at > :now + ${firstDelay} LIMIT :limit)`,
  );

  /** Takes messages out of the queue. */
  function take(rows: ClaimedRow[], { token, lane }: Lease): ClaimedRow[] {
    for (const [first, last] of runsOf(numbersOf(rows))) claimRun.run({ token, first, last, lane });
    return rows;
  }

  function lease(rows: ClaimedRow[], { token, leaseMs }: Lease): ClaimedMessage[] {
    if (rows.length === 0) return [];
    leases.open({ token, leaseMs }, runsOf(numbersOf(rows)));
    return claimedOf(rows, token);
  }

  function claimMessages(claim: MessageClaim): ClaimedMessage[] {
    const { lane, limit, limits = [], onlyOverdue = false } = claim;
    const now = clock.now();
    const isBatch = claim.class === 'batch' ? 1 : 0;
    bringWaitingForward.run({ now, lane, isBatch, limit });
    if (onlyOverdue) {
      const overdue = selectOverdue.all({ now, lane, isBatch, limit, before: overdueBefore[claim.class] });
      return lease(take(overdue as ClaimedRow[], claim), claim);
    }
    const rows: ClaimedRow[] = [];
    const limited = new Map([...limits].map(([id, most]) => [projects.numberOf(id), most]));
    if (isBatch) for (const project of quiet.now()) limited.set(project, 0);
    turns.takeTurns(claim, limited, now, ({ project, batch, most }) => {
      const due = selectDue.all({ now, lane, isBatch, project, batch, limit: most });
      rows.push(...take(due as ClaimedRow[], claim));
      return due.length;
    });
    return inTurn(lease(rows, claim));
  }

  function claimDoubts(claim: Lease & { limit: number }): ClaimedMessage[] {
    const { lane, limit } = claim;
    const now = clock.now();
    bringDoubtsForward.run({ now, lane, limit });
    return lease(take(selectDoubts.all({ now, lane, limit }) as ClaimedRow[], claim), claim);
  }

  /** Marks neighbours with equal marks in one statement. */
  function markSubmitting(marks: readonly Mark[]): Marked[] {
    const done = new Set<number>();
    const suppressions = suppressed.reasonsOf(marks);
    for (const [, group] of groupBy(
      suppressions.size === 0
        ? quiet.without(marks)
        : quiet.without(marks).filter(({ claimed }) => !suppressions.has(claimed.seq)),
      ({ claimed, attempt, route }) => `${claimed.token} ${attempt} ${route}`,
    )) {
      const [{ claimed, attempt, route, doubtMs }] = group as [Mark];
      const { token } = claimed;
      const now = clock.now();
      const mark = (first: number, last: number) =>
        Number(markRun.run({ first, last, token, attempt, route, doubtMs, now }).changes);
      for (const [first, last] of runsOf(group.map((one) => one.claimed.seq))) {
        const { messages } = countRun.get(first, last, token, attempt - 1) as { messages: number };
        const isWhole = messages === last - first + 1;
        if (isWhole) mark(first, last);
        for (let seq = first; seq <= last; seq += 1) if (isWhole || mark(seq, seq) === 1) done.add(seq);
      }
    }
    for (const mark of marks) if (done.has(mark.claimed.seq)) requests.keep(mark);
    return marks.map(({ claimed: { seq } }) => suppressions.get(seq) ?? done.has(seq));
  }

  function postponeMessages(postponements: readonly Postponement[]): void {
    const departures = leases.departures();
    for (const { claimed, delayMs, isTry, answer, lane = claimed.lane } of postponements) {
      const { seq, message, mark, token } = claimed;
      const now = clock.now();
      const given = { seq, id: message.id, at: now + Math.ceil(delayMs), lane, tries: isTry ? 1 : 0 };
      const giveBack = () =>
        mark === null
          ? giveBackLeased.run({ ...given, token })
          : giveBackMarked.run({ ...given, attempt: mark.attempt });
      if (departures.leave(seq, giveBack)) tries.record(seq, answer, now);
    }
    departures.write();
  }

  function leaveInDoubt(doubts: readonly { claimed: ClaimedMessage; delayMs: number }[]): void {
    const departures = leases.departures();
    for (const { claimed, delayMs } of doubts) {
      const { seq, message, mark } = claimed;
      const now = clock.now();
      const given = { seq, id: message.id, attempt: mark?.attempt ?? 0, at: now + Math.ceil(delayMs), now };
      departures.leave(seq, () => doubt.run(given));
    }
    departures.write();
  }

  return {
    claimMessages,
    claimDoubts,
    markSubmitting,
    postponeMessages,
    leaveInDoubt,
    /** A message, claimed or not. */
    read: (seq: number) => claimedOf(selectOne.all({ seq }) as ClaimedRow[], '')[0] ?? null,
  };
}

interface ClaimParts {
  leases: Leases;
  refusals: Refusals;
  suppressed: Suppressed;
  tries: Tries;
  receipts: Receipts;
  requests: { keep(mark: Mark): void };
  quiet: Quiet;
}

export type Claims = ReturnType<typeof prepareClaims>;

interface Lease {
  token: string;
  leaseMs: number;
  lane: string;
}

const numbersOf = (rows: readonly ClaimedRow[]) => rows.map(([seq]) => seq);
