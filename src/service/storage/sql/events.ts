import type { EventType } from '../../../contract/index.js';
import {
  type EventPlace,
  type EventRecord,
  type Events,
  type EventsTaken,
  keptFor,
  type LineState,
} from '../events.js';
import { clockTolerance } from '../shared/clock-tolerance.js';
import { type BatchRow, type MessageRow, selectMessage, toBatch, toMessage } from '../shared/rows.js';
import { isPseudonym } from '../shared/secret.js';
import { selectBatches } from './messages.js';
import { query, type Sql, type Transaction } from './sql.js';
import { type SuppressionRow, toSuppression } from './suppressions.js';

interface EventRow {
  number: number;
  type: EventType;
  subject: number;
  at: number;
}

interface LineRow extends EventPlace {
  numbered: number;
  deleted: number;
  is_begun: boolean | number;
  is_held: boolean | number;
  has_new: boolean | number;
  is_heard: boolean | number;
}

/** Numbered, or deleted, in one transaction. */
const mostAtOnce = 1_000;
/** Milliseconds within which the last call is known. */
const heardWithin = 60_000;

const isNew = 'EXISTS (SELECT 1 FROM :s.events e WHERE e.line = l.line AND e.number IS NULL)';

/** What is reported to projects that ask for it. */
export function createEvents(sql: Sql): Events {
  /** Numbers what is behind the last number, and reads what is behind a place. */
  function* take(
    projectId: string,
    after: EventPlace | null,
    limit: number,
  ): Transaction<{ rows: EventRow[]; line: number; from: number } | 'expired' | null> {
    const [found] = yield* query<LineRow>(
      `SELECT l.*, ${isNew} AS has_new, :holdReason IS NOT NULL AS is_held, l.heard_at BETWEEN :now - ${heardWithin} AND :now AS is_heard
       FROM :s.event_lines l WHERE l.line = (SELECT line FROM :s.projects WHERE id = :projectId) AND :durable :lock`,
      { projectId },
    );
    if (found === undefined || !found.is_begun) return after === null ? null : 'expired';
    const { line, numbered, deleted } = found;
    const from = after?.number ?? deleted;
    if ((after !== null && after.line !== line) || from < deleted || from > numbered) return 'expired';
    // What is not known here may have had the next numbers, if the store is held.
    const added =
      found.has_new && !found.is_held && numbered < from + limit
        ? yield* query(
            `UPDATE :s.events SET number = :numbered::bigint + n.place
             FROM (SELECT u.seq, row_number() OVER (ORDER BY u.seq) AS place FROM :s.events u
               WHERE u.line = :line AND u.number IS NULL ORDER BY u.seq LIMIT ${mostAtOnce}) n
             WHERE events.seq = n.seq RETURNING number`,
            { line, numbered },
          )
        : [];
    if (added.length > 0 || !found.is_heard) {
      const isOn = yield* query(
        `UPDATE :s.event_lines SET numbered = numbered + :added::bigint, heard_at = :now
         WHERE line = :line AND EXISTS (SELECT 1 FROM :s.projects WHERE line = :line) RETURNING line`,
        { line, added: added.length },
      );
      // A release has ended it since the first statement began.
      if (isOn.length === 0) return 'expired';
    }
    const rows = yield* query<EventRow>(
      `SELECT number, type, subject, at FROM :s.events WHERE line = :line AND number > :from
       ORDER BY line, number LIMIT :limit`,
      { line, from, limit },
    );
    return { rows, line, from };
  }

  /** What events are about, by table and seq. */
  async function subjectsOf(projectId: string, rows: readonly EventRow[]) {
    const subjects = new Map<string, EventRecord['subject']>();
    const read = async <Row extends { seq: number }>(
      table: string,
      select: string,
      toSubject: (row: Row) => EventRecord['subject'],
    ) => {
      const seqs = rows.filter(({ type }) => tables[type] === table).map(({ subject }) => subject);
      if (seqs.length === 0) return;
      for (const row of await sql.read<Row>(`${select}.seq :in(seqs)`, { seqs: [...new Set(seqs)] }))
        subjects.set(`${table} ${row.seq}`, toSubject(row));
    };
    await read<MessageRow>('messages', `${selectMessage(':s.')} WHERE m`, (row) => toMessage(row, projectId));
    await read<BatchRow>('batches', `${selectBatches} WHERE b`, toBatch);
    await read<{ seq: number; id: string }>(
      'inbox',
      'SELECT i.seq, i.id FROM :s.inbox i WHERE i',
      ({ id }) => ({ id }),
    );
    await read<SuppressionRow>('suppressions', 'SELECT * FROM :s.suppressions s WHERE s', (row) => {
      const suppression = toSuppression(row);
      return isPseudonym(suppression.to) ? { ...suppression, to: '' } : suppression;
    });
    return ({ type, subject }: EventRow) => subjects.get(`${tables[type]} ${subject}`) ?? null;
  }

  return {
    async beginEvents(projectId, line) {
      await sql.together(
        [
          [
            'begun (line)',
            'UPDATE :s.projects SET line = :line WHERE id = :projectId AND line IS NULL AND :durable RETURNING line',
          ],
        ],
        'INSERT INTO :s.event_lines (line, heard_at) SELECT line, :now FROM begun WHERE true ON CONFLICT (line) DO NOTHING',
        { projectId, line },
      );
      const begun = await sql.write(
        `UPDATE :s.event_lines SET is_begun = true
         WHERE line = (SELECT line FROM :s.projects WHERE id = :projectId) AND (is_begun OR :reportersAreDone)
         RETURNING line`,
        { projectId },
      );
      return begun.length > 0;
    },
    async takeEvents(projectId, after, { limit, types }): Promise<EventsTaken | 'expired' | null> {
      const most = types === null ? limit : mostAtOnce;
      const taken = await sql.transact(() => take(projectId, after, most));
      if (taken === null || taken === 'expired') return taken;
      const { rows, line, from } = taken;
      const found = types === null ? rows : rows.filter(({ type }) => types.includes(type));
      const shown = found.slice(0, limit);
      const subjectOf = await subjectsOf(projectId, shown);
      const events = shown.map((row) => ({ ...row, line, subject: subjectOf(row) }));
      // Only a reset deletes messages and batches, and ends the line.
      if (events.some(({ type, subject }) => subject === null && !isErasable(type))) return 'expired';
      const last = found.length > limit ? shown.at(-1) : rows.at(-1);
      return { events, next: { line, number: last?.number ?? from } };
    },
    async eventLines(projectIds) {
      const rows = await sql.read<Omit<LineState, 'hasNew'> & { has_new: boolean | number }>(
        `SELECT p.id AS "projectId", l.line, l.numbered AS number, ${isNew} AS has_new
         FROM :s.projects p JOIN :s.event_lines l ON l.line = p.line WHERE p.id :in(projectIds)`,
        { projectIds },
      );
      return rows.map(({ has_new, ...row }) => ({ ...row, hasNew: Boolean(has_new) }));
    },
    async pruneEvents() {
      // The clock was set back since.
      await sql.write(`UPDATE :s.event_lines SET heard_at = :now WHERE heard_at > :now + ${clockTolerance}`);
      const ended = await sql.write(
        `UPDATE :s.projects SET line = NULL WHERE line = (
           SELECT l.line FROM :s.event_lines l JOIN :s.projects p ON p.line = l.line
           WHERE l.heard_at < :now - ${keptFor} LIMIT 1) AND :durable RETURNING seq`,
      );
      const isOver = 'l.line NOT IN (SELECT line FROM :s.projects WHERE line IS NOT NULL)';
      // Whoever saw a line before it ended may be writing of it.
      await sql.write(
        `DELETE FROM :s.event_lines AS l WHERE ${isOver} AND l.heard_at < :now - ${2 * keptFor}
           AND NOT EXISTS (SELECT 1 FROM :s.events e WHERE e.line = l.line)`,
      );
      const left = await sql.write(
        `DELETE FROM :s.events WHERE (line, seq) IN (SELECT e.line, e.seq FROM :s.events e
           WHERE e.line IN (SELECT l.line FROM :s.event_lines l WHERE ${isOver}) LIMIT ${mostAtOnce}) RETURNING seq`,
      );
      return ended.length + left.length + (await sql.transact(pruneOld));
    },
  };
}

/** Deletes the oldest of one line, in order: those behind the highest deleted number are all there. */
function* pruneOld(): Transaction<number> {
  const [line] = yield* query<{ line: number; deleted: number; before: number }>(
    `SELECT l.line, l.deleted, :now - ${keptFor} AS before FROM :s.event_lines l
     WHERE EXISTS (SELECT 1 FROM :s.events e
       WHERE e.line = l.line AND e.number = l.deleted + 1 AND e.at < :now - ${keptFor}) LIMIT 1 :lock`,
  );
  if (line === undefined) return 0;
  const deleted = yield* query<{ number: number }>(
    `DELETE FROM :s.events WHERE line = :line AND number > :deleted AND number < coalesce(
       (SELECT min(e.number) FROM :s.events e WHERE e.line = :line AND e.number > :deleted
         AND e.number <= :deleted::bigint + ${mostAtOnce} AND e.at >= :before),
       :deleted::bigint + ${mostAtOnce + 1}) RETURNING number`,
    { ...line },
  );
  yield* query('UPDATE :s.event_lines SET deleted = deleted + :count::bigint WHERE line = :line', {
    line: line.line,
    count: deleted.length,
  });
  return deleted.length;
}

/** Where the subject of an event is. */
const tables: Record<EventType, string> = {
  'message.sent': 'messages',
  'message.failed': 'messages',
  'message.delivery': 'messages',
  'message.received': 'inbox',
  'batch.completed': 'batches',
  'recipient.suppressed': 'suppressions',
};

const isErasable = (type: EventType) => tables[type] === 'inbox' || tables[type] === 'suppressions';
