import type { Channel } from '../../../../contract/index.js';
import type { Clock } from '../../../clock.js';
import type { ClaimedMessage } from '../../dispatching.js';
import type { Content } from '../../records.js';
import { queuedMessage } from '../../shared/queued.js';
import { noneEarlier } from '../../shared/recipients.js';
import { type ContentRow, toContent } from '../../shared/rows.js';
import { hasEarlier, type Refusals } from '../accept/refusals.js';
import type { Database } from '../database/database.js';
import type { Projects } from '../projects.js';
import type { Receipts } from './receipts.js';
import { triedOf } from './tries.js';

type Rest = [doubtMs: number | null, doubtUntil: number | null, hasEarlier: number, tried: string | null];

/** The columns that a claim reads of a message, in this order. */
export type ClaimedRow = [
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

export const claimedColumns = `seq, id, project, batch, content, channel, recipient, operator, parts, rate_multiplier, credits,
  created_at, attempts, pending_key, lane, route, tries, bound_at, doubt_ms, doubt_until,
  batch IS NOT NULL AND ${hasEarlier}, tried`;

/** Assumes both corrected times and erasures. */
const anyTimes = { isCorrected: true, hasErasures: true };

/** Reads claimed messages inside the caller's transaction. */
export function prepareClaimedRows(
  database: Database,
  projects: Projects,
  { refusals, receipts }: { refusals: Refusals; receipts: Receipts },
  clock: Clock,
) {
  const selectContent = database.prepare(
    'SELECT text, html, subject, sender, reply_to, sealed AS encrypted, is_bulk FROM contents WHERE seq = ?',
  );
  const selectBatch = database.prepare('SELECT id, stopped_at FROM batches WHERE seq = ?');
  const selectExpiry = database.prepare(
    'SELECT expires_at - created_at AS life FROM verifications WHERE message = ?',
  );

  const contentOf = (seq: number): Content => toContent(selectContent.get(seq) as ContentRow);
  const batchOf = (seq: number) => selectBatch.get(seq) as { id: string; stopped_at: number | null };

  /** The messages of rows, as claimed with a token. */
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
              : noneEarlier,
      };
    });
  }

  return claimedOf;
}

/** The same function, with its results cached. */
export function remembered<Value>(look: (key: number) => Value): (key: number) => Value {
  const known = new Map<number, Value>();
  return (key) => {
    const value = known.get(key) ?? look(key);
    known.set(key, value);
    return value;
  };
}
