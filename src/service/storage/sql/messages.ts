import type { BatchQuery, MessageQuery, PageRequest } from '../lists.js';
import {
  type BatchRow,
  boundOf,
  type MessageRow,
  selectMessage,
  toBatch,
  toMessage,
} from '../shared/rows.js';
import type { Store } from '../store.js';
import { ofProject } from './pages.js';
import type { Sql } from './sql.js';

/** The numbers of a page's rows, newest first. */
export interface Numbers {
  seqs: number[];
  next: string | null;
}

/** How an engine finds them, along its own indexes; null if `after` does not exist. */
export interface Listings {
  messages(projectId: string, query: MessageQuery, page: PageRequest): Promise<Numbers | null>;
  batches(projectId: string, query: BatchQuery, page: PageRequest): Promise<Numbers | null>;
}

type Messages = Pick<
  Store,
  | 'findAnswer'
  | 'getMessage'
  | 'findMessage'
  | 'getBatch'
  | 'listBatchMessages'
  | 'listMessages'
  | 'listBatches'
>;

const select = selectMessage(':s.');
const selectBatches = 'SELECT b.*, :unknownOfBatch AS unknown FROM :s.batches b';

/** Messages and batches, and the answers bound to their keys. */
export function createMessages(sql: Sql, listings: Listings): Messages {
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
    async getBatch(projectId, id) {
      const [row] = await sql.read<BatchRow>(`${selectBatches} WHERE b.${ofProject} AND b.id = :id`, {
        projectId,
        id,
      });
      return row === undefined ? null : toBatch(row);
    },
    async listBatchMessages(projectId, batchId, { limit, after }) {
      const [batch] = await sql.read<{ seq: number }>(
        `SELECT seq FROM :s.batches WHERE ${ofProject} AND id = :batchId`,
        { projectId, batchId },
      );
      const [last] =
        after === null
          ? [{ seq: 0 }]
          : await sql.read<{ seq: number }>(
              'SELECT seq FROM :s.messages WHERE id = :after AND batch = :batch',
              { after, batch: batch?.seq ?? null },
            );
      if (batch === undefined || last === undefined) return null;
      const rows = await sql.read<MessageRow>(
        `${select} WHERE :isInBatch AND m.seq > :last ORDER BY m.seq LIMIT :limit`,
        { batch: batch.seq, last: last.seq, limit },
      );
      return rows.map((row) => toMessage(row, projectId));
    },
    async listMessages(projectId, query, page) {
      const listed = await listings.messages(projectId, query, page);
      if (listed === null) return null;
      const { seqs, next } = listed;
      const rows = await sql.read<MessageRow>(`${select} WHERE m.seq :in(seqs) ORDER BY m.seq DESC`, {
        seqs,
      });
      return { records: rows.map((row) => toMessage(row, projectId)), next };
    },
    async listBatches(projectId, query, page) {
      const listed = await listings.batches(projectId, query, page);
      if (listed === null) return null;
      const { seqs, next } = listed;
      const rows = await sql.read<BatchRow>(`${selectBatches} WHERE b.seq :in(seqs) ORDER BY b.seq DESC`, {
        seqs,
      });
      return { records: rows.map(toBatch), next };
    },
  };
}
