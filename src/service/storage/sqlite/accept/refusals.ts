import { mailboxOf } from '../../../../contract/index.js';
import type { MessageAcceptance, Refusal } from '../../acceptance.js';
import { cappedUntil, type Earlier, earlierMessages, longestWindow } from '../../caps.js';
import type { BoundAnswer, Instant } from '../../records.js';
import { type EarlierTo, earlierOf, hasSpellings, pseudonymsOf } from '../../shared/recipients.js';
import { boundOf } from '../../shared/rows.js';
import type { PseudonymOf } from '../../shared/secret.js';
import { obeysOptOuts } from '../../suppressions.js';
import { acceptedAt, anyCorrection, type ClockCorrections } from '../clock-corrections.js';
import type { Database } from '../database/database.js';
import { prepareOnce } from '../database/prepare-once.js';
import { isHeld as storeIsHeld } from '../dispatch/holds.js';
import { resetUnderWay } from '../erase/resets.js';
import { hasSuppressions, type Suppressed } from './suppressed.js';

const anyErasure = 'EXISTS (SELECT 1 FROM erasures)';

/** Whether anything was sent to an address with a tag or in capitals, which counts for its mailbox. */
const anySpelling =
  'EXISTS (SELECT 1 FROM messages s INDEXED BY messages_spelled WHERE s.mailbox IS NOT NULL)';

/**
 * Whether another counted message to the recipient of `m` was accepted before it, however long ago. By the index of
 * recipients: by that of projects SQLite would look through all messages of the project. Any may have been to a recipient
 * that was erased since.
 */
export const hasEarlier = `(${anyErasure} OR (m.channel = 'email' AND ${anySpelling}) OR EXISTS (SELECT 1 FROM messages e INDEXED BY messages_recent WHERE e.project = m.project
  AND e.recipient = m.recipient AND e.refunded = 0 AND e.seq < m.seq))`;

/** Why a send is refused. The functions read inside their caller's transaction. */
export function prepareRefusals(
  database: Database,
  corrections: ClockCorrections,
  { suppressed, pseudonymOf }: { suppressed: Suppressed; pseudonymOf: PseudonymOf },
) {
  const prepared = prepareOnce(database);
  // Positional parameters: named ones take as long as the statement, and Node.js 22.16 and 24.0 cannot bind `?1`.
  const selectStanding = database.prepare(
    `SELECT balance, ${resetUnderWay('?')} AS isResetting, ${storeIsHeld} AS isHeld,
       ${anyCorrection} AS isCorrected, ${anyErasure} AS hasErasures,
       ${hasSuppressions('projects.seq')} AS hasSuppressions
     FROM projects WHERE seq = ?`,
  );
  const selectAnswer = database.prepare('SELECT status, body FROM idempotency WHERE project = ? AND key = ?');
  const selectEarlier = database.prepare(
    `SELECT created_at AS time FROM messages INDEXED BY messages_recent
     WHERE project = ? AND recipient = ? AND refunded = 0 AND created_at > ? AND seq < ?
     ORDER BY created_at DESC LIMIT ${earlierMessages}`,
  );
  const earlierOfIndex = (index: string, column: string, isCorrected: boolean) =>
    `SELECT m.recipient, ${acceptedAt('m.seq', 'm.created_at')} AS time FROM messages m INDEXED BY ${index}
     WHERE m.project = ? AND m.${column} = ? AND m.refunded = 0 AND m.created_at > ? AND m.seq < ?
     ${isCorrected ? '' : `ORDER BY m.created_at DESC, m.seq DESC LIMIT ${earlierMessages}`}`;
  // Corrected times may have another order.
  const earlierToMailbox = (isCorrected: boolean) =>
    `SELECT recipient, time FROM (
       SELECT * FROM (${earlierOfIndex('messages_recent', 'recipient', isCorrected)}) UNION ALL
       SELECT * FROM (${earlierOfIndex('messages_mailbox', 'mailbox', isCorrected)}))
     WHERE time > ? ORDER BY time DESC LIMIT ${earlierMessages}`;
  const selectSpelled = database.prepare(
    `SELECT 1 FROM messages INDEXED BY messages_mailbox WHERE project = ? AND mailbox = ? AND refunded = 0 LIMIT 1`,
  );
  const selectCorrection = database.prepare(`SELECT ${anyCorrection} AS isCorrected`);
  const selectEarlierCorrected = database.prepare(
    `SELECT time FROM (
       SELECT ${acceptedAt('m.seq', 'm.created_at')} AS time FROM messages m INDEXED BY messages_recent
       WHERE project = ? AND recipient = ? AND refunded = 0 AND created_at > ? AND seq < ?)
     WHERE time > ? ORDER BY time DESC LIMIT ${earlierMessages}`,
  );

  /** The same for recipients that were erased since. */
  function erasedTo(project: number, pseudonyms: readonly string[], at: Instant, before: number): Instant[] {
    const rows = prepared(
      `SELECT DISTINCT message, accepted_at AS time FROM erasures
       WHERE project = ? AND pseudonym IN (?, ?) AND accepted_at > ? AND message < ?`,
    ).all(project, pseudonyms[0] ?? '', pseudonyms[1] ?? '', at - longestWindow, before) as {
      time: number;
    }[];
    return rows.map(({ time }) => time);
  }

  /** When counted messages were accepted before this one, to its recipient and to all tags of its address. */
  function earlierTo(
    project: number,
    recipient: string,
    at: Instant,
    before: number,
    standing: Pick<Standing, 'isCorrected' | 'hasErasures'>,
  ): Earlier {
    if (!hasSpellings(recipient)) {
      const own = timesTo(project, recipient, at, before, standing);
      return { own, all: own };
    }
    const mailbox = mailboxOf(recipient);
    // Most addresses are written in one way.
    if (mailbox === recipient && !standing.hasErasures && selectSpelled.get(project, mailbox) === undefined) {
      const own = timesTo(project, recipient, at, before, standing);
      return { own, all: own };
    }
    const since = at - longestWindow;
    const isCorrected =
      standing.isCorrected && (selectCorrection.get() as { isCorrected: number }).isCorrected === 1;
    const rows = prepared(earlierToMailbox(isCorrected)).all(
      ...[project, mailbox, since, before],
      ...[project, mailbox, since, before],
      since,
    ) as unknown as EarlierTo[];
    const newest = Math.max(...rows.map(({ time }) => time));
    const isPast = rows.length === 0 || corrections.asOf(newest, at, before - 1) === newest;
    const { own, all } = earlierOf(recipient, rows);
    if (isPast && !standing.hasErasures) return { own, all };
    const pseudonyms = pseudonymsOf(recipient, pseudonymOf);
    const sorted = (times: readonly Instant[], erased: readonly string[]) =>
      [...times, ...erasedTo(project, erased, at, before)]
        .map((time) => Math.min(time, at))
        .sort((one, other) => other - one);
    return { own: sorted(own, pseudonyms.own), all: sorted(all, [pseudonyms.mailbox]) };
  }

  /** The same of a recipient that is written in one way only, newest first. */
  function timesTo(
    project: number,
    recipient: string,
    at: Instant,
    before: number,
    { isCorrected, hasErasures }: Pick<Standing, 'isCorrected' | 'hasErasures'>,
  ): Instant[] {
    const since = at - longestWindow;
    const rows = (
      isCorrected
        ? selectEarlierCorrected.all(project, recipient, since, before, since)
        : selectEarlier.all(project, recipient, since, before)
    ) as { time: number }[];
    const times = rows.map(({ time }) => time);
    const [newest] = times;
    const erased = hasErasures ? erasedTo(project, [pseudonymOf(recipient)], at, before) : [];
    const isPast = newest === undefined || corrections.asOf(newest, at, before - 1) === newest;
    if (isPast && erased.length === 0) return times;
    return [...times, ...erased].map((time) => Math.min(time, at)).sort((one, other) => other - one);
  }

  function findAnswer(project: number, key: string): BoundAnswer | null | undefined {
    const row = selectAnswer.get(project, key) as { status: number | null; body: string | null } | undefined;
    return row && boundOf(row.status, row.body);
  }

  function standingOf(project: number, at: Instant): Standing {
    const row = selectStanding.get(at, project) as StandingRow;
    return {
      project,
      balance: row.balance,
      isResetting: row.isResetting === 1,
      isHeld: row.isHeld === 1,
      isCorrected: row.isCorrected === 1,
      hasErasures: row.hasErasures === 1,
      hasSuppressions: row.hasSuppressions === 1,
    };
  }

  function ofMessage(standing: Standing, acceptance: MessageAcceptance, at: Instant): Refusal | null {
    const { recipient, caps, credits, idempotencyKey } = acceptance;
    const { project } = standing;
    const unready = unreadyFor(standing, idempotencyKey);
    if (unready !== null) return unready;
    if (standing.hasSuppressions) {
      const { channel, content } = acceptance;
      const obeys = obeysOptOuts({ channel, batchId: null }, content);
      const reason = suppressed.reasonOf(project, recipient.to, obeys);
      if (reason !== null) return { kind: 'suppressed', reason };
    }
    const earlier = earlierTo(project, recipient.to, at, Number.MAX_SAFE_INTEGER, standing);
    const until = cappedUntil(earlier, caps, at);
    return until === null ? shortOf(standing, credits) : { kind: 'capped', waitMs: until - at };
  }

  function ofBatch(standing: Standing, key: string | null, charge: number): Refusal | null {
    return unreadyFor(standing, key) ?? shortOf(standing, charge);
  }

  /** A running reset, a hold, or an earlier request with the key. */
  function unreadyFor({ project, isResetting, isHeld }: Standing, key: string | null): Refusal | null {
    if (isResetting) return { kind: 'resetting' };
    if (isHeld) return { kind: 'held' };
    const answer = key === null ? undefined : findAnswer(project, key);
    return answer === undefined ? null : { kind: 'repeat', answer };
  }

  return { standingOf, ofMessage, ofBatch, earlierTo, findAnswer };
}

export type Refusals = ReturnType<typeof prepareRefusals>;

interface StandingRow {
  balance: number;
  isResetting: number;
  isHeld: number;
  isCorrected: number;
  hasErasures: number;
  hasSuppressions: number;
}

/** The state of a project that decides whether it may send. */
interface Standing {
  project: number;
  balance: number;
  isResetting: boolean;
  isHeld: boolean;
  /** Whether the clock was ever set back, so that stored times may be corrected. */
  isCorrected: boolean;
  /** Whether recipients of recent sends were erased. */
  hasErasures: boolean;
  /** Whether anybody is suppressed. */
  hasSuppressions: boolean;
}

function shortOf({ balance }: Standing, charge: number): Refusal | null {
  return balance < charge ? { kind: 'insufficient', balance } : null;
}
