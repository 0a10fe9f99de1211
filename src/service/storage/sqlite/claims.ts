import type { Channel } from '../../../contract/index.js';
import type { Clock } from '../../clock.js';
import type { ClaimedMessage, Mark, MessageClaim, Postponement } from '../dispatching.js';
import { queuedMessage } from '../queued.js';
import type { Content } from '../records.js';
import { farthestDue, firstDelay } from './clock-tolerance.js';
import type { Database } from './database/database.js';
import { isInOpenLane } from './lanes.js';
import type { Leases } from './leases.js';
import type { Projects } from './projects.js';
import type { Receipts } from './receipts.js';
import { hasEarlier, type Refusals } from './refusals.js';
import { groupBy, runsOf } from './runs.js';
import { type Tries, triedOf } from './tries.js';

interface ContentRow {
  text: string | null;
  html: string | null;
  subject: string | null;
  sender: string | null;
  reply_to: string | null;
  sealed: Uint8Array | null;
}

type Rest = [doubtMs: number | null, doubtUntil: number | null, hasEarlier: number, tried: string | null];

/** What a claim reads of a message, in this order. */
type ClaimedRow = [
  seq: number,
  id: string,
  project: number,
  batch: number | null,
  content: number,
  channel: Channel,
  recipient: string,
  operator: string | null,
  parts: number | null,
  rateMultiplier: number | null,
  credits: number,
  createdAt: number,
  attempts: number,
  pendingKey: string | null,
  lane: string,
  route: string | null,
  tries: number,
  boundAt: number | null,
  ...Rest,
];

const columns = `seq, id, project, batch, content, channel, recipient, operator, parts, rate_multiplier, credits,
  created_at, attempts, pending_key, lane, route, tries, bound_at, doubt_ms, doubt_until,
  batch IS NOT NULL AND ${hasEarlier}, tried`;
/** Nothing is known of the clock and of erasures. */
const anyTimes = { isCorrected: true, hasErasures: true };
const doubtful = 'lane = :lane AND route IS NOT NULL';
const waiting = 'lane = :lane AND (batch IS NOT NULL) = :isBatch AND route IS NULL';

/** The fence of a marked message. The id, for a number is given again after a reset. */
export const isMarked = `seq = :seq AND id = :id AND status = 'queued' AND route IS NOT NULL AND attempts = :attempt`;
/** The fence of one that is not marked. */
export const isLeased = `seq = :seq AND id = :id AND status = 'queued' AND route IS NULL AND lease = :token`;

/** Claims, marks and doubts. The functions write inside the transaction of their caller. */
export function prepareClaims(
  database: Database,
  projects: Projects,
  { leases, refusals, tries, receipts }: ClaimParts,
  clock: Clock,
) {
  const selectRows = (condition: string) => {
    const select = database.prepare(`SELECT ${columns} FROM messages m WHERE ${condition}`);
    select.setReturnArrays(true);
    return select;
  };
  const selectDue = selectRows(`${waiting} AND due_at <= :now ORDER BY due_at, seq LIMIT :limit`);
  const selectOverdue = selectRows(
    `${waiting} AND due_at IS NOT NULL AND bound_at <= :now ORDER BY bound_at, seq LIMIT :limit`,
  );
  const selectDoubts = selectRows(`${doubtful} AND due_at <= :now ORDER BY due_at, seq LIMIT :limit`);
  const selectOne = selectRows('seq = :seq');
  // A run of neighbours in one statement costs a tenth of one statement for each.
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
  const selectContent = database.prepare('SELECT * FROM contents WHERE seq = ?');
  const selectBatch = database.prepare('SELECT id, stopped_at FROM batches WHERE seq = ?');
  const selectExpiry = database.prepare(
    'SELECT expires_at - created_at AS life FROM verifications WHERE message = ?',
  );
  // The first one too, which is what a dispatcher looks at: many others may wait rightly.
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

  function contentOf(seq: number): Content {
    const { text, html, subject, sender, reply_to, sealed } = selectContent.get(seq) as ContentRow;
    return { text, html, subject, from: sender, replyTo: reply_to, encrypted: sealed };
  }

  const batchOf = (seq: number) => selectBatch.get(seq) as { id: string; stopped_at: number | null };

  /** Messages of rows, as claimed with a token. */
  function claimedOf(rows: readonly ClaimedRow[], token: string): ClaimedMessage[] {
    const now = clock.now();
    const contents = remembered(contentOf);
    const batches = remembered(batchOf);
    return rows.map((row): ClaimedMessage => {
      const [seq, id, project, batch, content, channel, to, operator, parts, rateMultiplier, credits] = row;
      const [, , , , , , , , , , , createdAt, attempts, pendingKey, lane, route, tries, boundAt] = row;
      const [doubtMs, doubtUntil, hasEarlier, tried] = row.slice(18) as Rest;
      const read = contents(content);
      const age = Math.max(0, now - createdAt);
      const life =
        read.encrypted === null
          ? null
          : ((selectExpiry.get(seq) as { life: number } | undefined)?.life ?? null);
      return {
        seq,
        message: queuedMessage(
          { projectId: projects.idOf(project), channel, parts, rateMultiplier, credits },
          { id, to, operator },
          batch === null ? null : batches(batch).id,
          createdAt,
        ),
        content: read,
        token,
        lane,
        pendingKey,
        mark: route === null ? null : { attempt: attempts, route },
        attempts,
        tries,
        tried: triedOf(tried),
        boundMs: boundAt === null ? Number.POSITIVE_INFINITY : boundAt - createdAt - age,
        lifeMs: life === null ? null : life - age,
        doubtMs: doubtUntil === null ? null : Math.min(doubtUntil - now, doubtMs ?? Number.POSITIVE_INFINITY),
        receipts: route === null ? [] : receipts.ownOf(seq),
        isStopped: batch !== null && batches(batch).stopped_at !== null,
        earlier:
          batch === null
            ? null
            : hasEarlier === 1
              ? refusals.earlierTo(project, to, createdAt, seq, anyTimes)
              : [],
      };
    });
  }

  function lease(rows: ClaimedRow[], { token, leaseMs, lane }: Lease): ClaimedMessage[] {
    if (rows.length === 0) return [];
    const numbers = rows.map(([seq]) => seq).sort((one, other) => one - other);
    for (const [first, last] of runsOf(numbers)) claimRun.run({ token, first, last, lane });
    leases.open({ token, leaseMs }, numbers[0] ?? 0, numbers.at(-1) ?? 0, rows.length);
    return claimedOf(rows, token);
  }

  function claimMessages(claim: MessageClaim): ClaimedMessage[] {
    const { lane, limit, onlyOverdue = false } = claim;
    const now = clock.now();
    const isBatch = claim.class === 'batch' ? 1 : 0;
    bringWaitingForward.run({ now, lane, isBatch, limit });
    const select = onlyOverdue ? selectOverdue : selectDue;
    return lease(select.all({ now, lane, isBatch, limit }) as ClaimedRow[], claim);
  }

  function claimDoubts(claim: Lease & { limit: number }): ClaimedMessage[] {
    const { lane, limit } = claim;
    const now = clock.now();
    bringDoubtsForward.run({ now, lane, limit });
    return lease(selectDoubts.all({ now, lane, limit }) as ClaimedRow[], claim);
  }

  /** Marks neighbours that are marked alike in one statement. */
  function markSubmitting(marks: readonly Mark[]): boolean[] {
    const done = new Set<number>();
    for (const [, group] of groupBy(
      marks,
      ({ claimed, attempt, route }) => `${claimed.token} ${attempt} ${route}`,
    )) {
      const [{ claimed, attempt, route, doubtMs }] = group as [Mark];
      const { token } = claimed;
      const now = clock.now();
      const mark = (first: number, last: number) =>
        Number(markRun.run({ first, last, token, attempt, route, doubtMs, now }).changes);
      for (const [first, last] of runsOf(group.map((one) => one.claimed.seq).sort((a, b) => a - b))) {
        const { messages } = countRun.get(first, last, token, attempt - 1) as { messages: number };
        for (let seq = first; seq <= last; seq += 1) {
          if (messages === last - first + 1 || mark(seq, seq) === 1) done.add(seq);
        }
        if (messages === last - first + 1) mark(first, last);
      }
    }
    return marks.map(({ claimed }) => done.has(claimed.seq));
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
    /** A message that nobody has to have claimed. */
    read: (seq: number) => claimedOf(selectOne.all({ seq }) as ClaimedRow[], '')[0] ?? null,
  };
}

interface ClaimParts {
  leases: Leases;
  refusals: Refusals;
  tries: Tries;
  receipts: Receipts;
}

export type Claims = ReturnType<typeof prepareClaims>;

interface Lease {
  token: string;
  leaseMs: number;
  lane: string;
}

/** The same function, that looks everything up once. */
export function remembered<Value>(look: (key: number) => Value): (key: number) => Value {
  const known = new Map<number, Value>();
  return (key) => {
    const value = known.get(key) ?? look(key);
    known.set(key, value);
    return value;
  };
}
