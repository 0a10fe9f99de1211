import type { Channel } from '../../../contract/index.js';
import {
  answeredWithin,
  type Inbox,
  type InboxRecord,
  type IncomingMessage,
  missingPart,
  partsWithin,
  seriesOf,
} from '../inbox.js';
import { type Listed, longestPage } from '../lists.js';
import { listed, rowsPerPage } from './listed.js';
import { ofProject, reported } from './pages.js';
import { alone, query, type Sql, type Transaction } from './sql.js';

/** The parts of a text that have arrived, in order; SQLite stores them as JSON. */
type Parts = readonly (string | null)[];
type StoredParts = Parts | string;

interface InboxRow {
  seq: number;
  id: string;
  channel: Channel;
  sender: string;
  recipient: string;
  subject: string | null;
  text: string;
  received_at: number;
  parts: StoredParts | null;
}

const partsOf = (stored: StoredParts) =>
  typeof stored === 'string' ? (JSON.parse(stored) as Parts) : stored;
const joined = (parts: Parts) => parts.map((part) => part ?? missingPart).join('');
const whole = (parts: Parts) => (parts.includes(null) ? null : joined(parts));

/** A clock that was set back gives a later message an earlier time. Along the index of times, not of numbers. */
const isSince = `received_at >= :since AND m.seq >= (SELECT min(seq + 0) FROM :s.inbox
  WHERE ${ofProject} AND received_at >= :since)`;

/** Rows that are read at once, each of which may have a text of 1 MB. */
const readAtOnce = 20;

/** Incoming messages. */
export function createInbox(sql: Sql): Inbox {
  function* insert(message: IncomingMessage, text: string, parts: Parts | null): Transaction<void> {
    const { id, projectId, channel, from, to, subject, fingerprint } = message;
    yield* query(
      `INSERT INTO :s.inbox
         (id, project, channel, sender, recipient, subject, text, received_at, fingerprint, series, parts)
       VALUES (:id, (SELECT seq FROM :s.projects WHERE id = :projectId), :channel, :from, :to, :subject, :text, :now,
         :fingerprint, :series, :parts)
       ON CONFLICT (project, fingerprint) DO NOTHING`,
      { id, projectId, channel, from, to, subject, text, fingerprint, series: seriesOf(message), parts },
    );
    yield* query(reported('message.received', '(SELECT seq, project FROM :s.inbox WHERE id = :id)'), { id });
  }

  function* keep(message: IncomingMessage): Transaction<string | null> {
    const { part, text, projectId } = message;
    if (part === null) {
      yield* insert(message, text, null);
      return text;
    }
    const series = seriesOf(message);
    // Parts come at once, over several connections.
    yield* alone(`inbox ${projectId} ${series}`);
    const earlier = yield* query<{ seq: number; parts: StoredParts }>(
      `SELECT seq, parts FROM :s.inbox WHERE ${ofProject} AND series = :series AND received_at > :now - ${partsWithin}
       ORDER BY seq DESC`,
      { projectId, series },
    );
    const index = part.number - 1;
    for (const row of earlier) {
      const before = partsOf(row.parts);
      if (before[index] === text) return whole(before);
      if (before[index] !== null) continue;
      const parts = before.with(index, text);
      yield* query('UPDATE :s.inbox SET text = :text, parts = :parts WHERE seq = :seq', {
        text: joined(parts),
        parts,
        seq: row.seq,
      });
      if (!parts.includes(null))
        yield* query(reported('message.received', '(SELECT seq, project FROM :s.inbox WHERE seq = :seq)'), {
          seq: row.seq,
        });
      return whole(parts);
    }
    const parts = Array.from({ length: part.total }, (_, at) => (at === index ? text : null));
    yield* insert(message, joined(parts), parts);
    return null;
  }

  async function recordsOf(
    { seqs, next }: { seqs: number[]; next: string | null },
    projectId: string,
  ): Promise<Listed<InboxRecord>> {
    const records: InboxRecord[] = [];
    let length = 0;
    for (let from = 0; from < seqs.length; from += readAtOnce) {
      const rows = await sql.read<InboxRow & { now: number }>(
        'SELECT *, :now AS now FROM :s.inbox WHERE seq :in(seqs) ORDER BY seq DESC',
        { seqs: seqs.slice(from, from + readAtOnce) },
      );
      for (const row of rows) {
        length += row.text.length + row.sender.length + (row.subject?.length ?? 0);
        const last = records.at(-1);
        if (last !== undefined && length > longestPage) return { records, next: last.id };
        records.push(toRecord(row, projectId));
      }
    }
    return { records, next };
  }

  return {
    keepIncoming: (message) => sql.transact(() => keep(message)),
    async listSendersTo(to, route) {
      const rows = await sql.read<{ id: string }>(
        `SELECT DISTINCT p.id AS id FROM :ofRecipient
         WHERE m.route = :route::text AND m.status <> 'failed' AND m.created_at > :now - ${answeredWithin} ORDER BY id`,
        { to, route },
      );
      return rows.map(({ id }) => id);
    },
    async listInbox(projectId, query, page) {
      const { channel, since, until } = query;
      const listing = {
        table: 'inbox m',
        rows: [[isSince, since]],
        filters: [
          ['received_at < :until', until],
          ['channel = :channel', channel],
        ],
        areFew: false,
        values: { ...query },
      } as const;
      const list = await listed(sql, listing, projectId, page, rowsPerPage);
      return list && recordsOf(list, projectId);
    },
    async getIncoming(projectId, id) {
      const [row] = await sql.read<InboxRow & { now: number }>(
        `SELECT *, :now AS now FROM :s.inbox WHERE ${ofProject} AND id = :id`,
        { projectId, id },
      );
      return row === undefined ? null : toRecord(row, projectId);
    },
  };
}

function toRecord(row: InboxRow & { now: number }, projectId: string): InboxRecord {
  const { id, channel, sender: from, recipient: to, subject, text, received_at: receivedAt } = row;
  const waitsForParts =
    receivedAt > row.now - partsWithin && row.parts !== null && partsOf(row.parts).includes(null);
  return { id, projectId, channel, from, to, subject, text, receivedAt, waitsForParts };
}
