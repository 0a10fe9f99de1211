import { comparedRecipient } from '../../../contract/index.js';
import type { BatchQuery } from '../lists.js';
import { hasSpellings } from '../shared/recipients.js';
import {
  type BatchRow,
  boundOf,
  type MessageRow,
  selectMessage,
  toBatch,
  toMessage,
} from '../shared/rows.js';
import type { Store } from '../store.js';
import { listed, rowsPerPage } from './listed.js';
import { ofProject } from './pages.js';
import { spellings } from './spellings.js';
import type { Sql } from './sql.js';

type Messages = Pick<
  Store,
  | 'findAnswer'
  | 'getMessage'
  | 'findMessage'
  | 'ownMessages'
  | 'getBatch'
  | 'listBatchMessages'
  | 'listMessages'
  | 'listBatches'
>;

/** With the code of the receipt of a message that was not delivered. */
const select = selectMessage(
  ':s.',
  `, CASE WHEN m.delivery <> 'delivered' THEN (SELECT r.code FROM :s.receipts r
     WHERE r.message = m.seq AND r.state = m.delivery AND r.code IS NOT NULL ORDER BY r.received_at LIMIT 1)
   END AS receipt_code`,
);
export const selectBatches = 'SELECT b.*, :unknownOfBatch AS unknown FROM :s.batches b';

/** Messages and batches, and the answers bound to their keys. */
export function createMessages(sql: Sql, scanned = rowsPerPage): Messages {
  /** Null if there is no such batch. */
  async function numberOf(projectId: string, batchId: string): Promise<number | null> {
    const [batch] = await sql.read<{ seq: number }>(
      `SELECT seq FROM :s.batches WHERE ${ofProject} AND id = :batchId`,
      { projectId, batchId },
    );
    return batch?.seq ?? null;
  }

  /** How an address was written; null where a recipient is written in one way. */
  async function spelledOf(projectId: string, to: string | null): Promise<string[] | null> {
    if (to === null || !hasSpellings(to)) return null;
    const rows = await sql.read<{ recipient: string }>(
      spellings('(SELECT seq FROM :s.projects WHERE id = :projectId)'),
      { projectId, to: comparedRecipient(to) },
    );
    return rows.map(({ recipient }) => recipient);
  }

  return {
    async findAnswer(projectId, key) {
      const row = await sql.find<{ status: number | null; body: string | null }>(
        `SELECT status, body FROM :s.idempotency WHERE ${ofProject} AND key = :key`,
        { projectId, key },
      );
      return row && boundOf(row.status, row.body);
    },
    async getMessage(projectId, id) {
      const row = await sql.find<MessageRow>(`${select} WHERE m.${ofProject} AND m.id = :id`, {
        projectId,
        id,
      });
      return row === undefined ? null : toMessage(row, projectId);
    },
    async findMessage(id) {
      const row = await sql.find<MessageRow & { project_id: string }>(
        `SELECT m.*, b.id AS batch_id, p.id AS project_id FROM :s.messages m
         JOIN :s.projects p ON p.seq = m.project LEFT JOIN :s.batches b ON b.seq = m.batch WHERE m.id = :id`,
        { id },
      );
      return row === undefined ? null : toMessage(row, row.project_id);
    },
    async ownMessages(projectId, ids) {
      // Not by the project, whose index is of all its messages.
      const rows = await sql.read<{ id: string }>(
        `SELECT m.id FROM :s.messages m
         WHERE m.id :in(ids) AND (SELECT p.id FROM :s.projects p WHERE p.seq = m.project) = :projectId`,
        { projectId, ids },
      );
      return rows.map(({ id }) => id);
    },
    async getBatch(projectId, id) {
      const [row] = await sql.read<BatchRow>(`${selectBatches} WHERE b.${ofProject} AND b.id = :id`, {
        projectId,
        id,
      });
      return row === undefined ? null : toBatch(row);
    },
    async listBatchMessages(projectId, batchId, { limit, after }) {
      const batch = await numberOf(projectId, batchId);
      const [last] =
        after === null
          ? [{ seq: 0 }]
          : await sql.read<{ seq: number }>(
              'SELECT seq FROM :s.messages WHERE id = :after AND batch = :batch',
              { after, batch },
            );
      if (batch === null || last === undefined) return null;
      const rows = await sql.read<MessageRow>(
        `${select} WHERE :isInBatch AND m.seq > :last ORDER BY m.seq LIMIT :limit`,
        { batch, last: last.seq, limit },
      );
      return rows.map((row) => toMessage(row, projectId));
    },
    async listMessages(projectId, query, page) {
      const { to, batchId, delivery, status, since, until } = query;
      const batch = batchId === null ? null : await numberOf(projectId, batchId);
      const spelled = await spelledOf(projectId, to);
      const listing = {
        table: `messages m ${to === null ? ':byProject' : ':byRecipient'}`,
        rows: [
          [':isInBatch', batchId],
          ['recipient = :to', spelled === null ? to : null],
          ['recipient :in(spelled)', spelled],
          ['m.seq BETWEEN :firstInTime AND :lastInTime', since ?? until],
        ],
        filters: [...common(query), ['status = :status', status], ['delivery = :delivery', delivery]],
        areFew: to !== null,
        values: { ...query, batch, spelled },
      } as const;
      const list = await listed(sql, listing, projectId, page, scanned);
      if (list === null) return null;
      const { seqs, next } = list;
      const rows = await sql.read<MessageRow>(`${select} WHERE m.seq :in(seqs) ORDER BY m.seq DESC`, {
        seqs,
      });
      return { records: rows.map((row) => toMessage(row, projectId)), next };
    },
    async listBatches(projectId, { status, ...query }, page) {
      const isCompleted = status === null ? null : status === 'completed';
      const listing = {
        table: 'batches m :byProjectOfBatch',
        rows: [],
        filters: [...common(query), ['(completed_at IS NOT NULL) = :isCompleted', isCompleted]],
        areFew: false,
        values: { ...query, isCompleted },
      } as const;
      const list = await listed(sql, listing, projectId, page, scanned);
      if (list === null) return null;
      const { seqs, next } = list;
      const rows = await sql.read<BatchRow>(`${selectBatches} WHERE b.seq :in(seqs) ORDER BY b.seq DESC`, {
        seqs,
      });
      return { records: rows.map(toBatch), next };
    },
  };
}

const common = ({ channel, since, until }: Pick<BatchQuery, 'channel' | 'since' | 'until'>) =>
  [
    ['channel = :channel', channel],
    ['created_at >= :since', since],
    ['created_at < :until', until],
  ] as const;
