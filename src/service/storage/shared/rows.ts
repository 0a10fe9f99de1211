import type { Channel, MessageStatus } from '../../../contract/index.js';
import { scopeOf } from '../admission.js';
import type {
  BatchRecord,
  BoundAnswer,
  Content,
  DeliveryState,
  KeyRecord,
  LedgerRecord,
  MessageRecord,
  ProjectRecord,
} from '../records.js';
import type { TriedRun } from '../tried.js';

/** JSON on SQLite; null without any. */
export type StoredTried = readonly TriedRun[] | string | null;

export const triedOf = (stored: StoredTried): readonly TriedRun[] =>
  typeof stored === 'string' ? (JSON.parse(stored) as TriedRun[]) : (stored ?? []);

/** A message row, with the ids of its project and batch. */
export interface MessageRow {
  seq: number;
  id: string;
  project: number;
  batch: number | null;
  batch_id: string | null;
  channel: Channel;
  recipient: string;
  operator: string | null;
  status: MessageStatus;
  parts: number | null;
  rate_multiplier: number | null;
  credits: number;
  error_code: string | null;
  error_message: string | null;
  delivery: DeliveryState | null;
  tried: StoredTried;
  /** Absent in a row without its receipts. */
  receipt_code?: string | null;
  created_at: number;
  sent_at: number | null;
}

/** Null while the first request with the key is running. */
export function boundOf(status: number | null, body: string | null): BoundAnswer | null {
  return status === null || body === null ? null : { status, body };
}

/** `before`: what stands before the names of tables; `more`: other columns. */
export const selectMessage = (before = '', more = '') =>
  `SELECT m.*, b.id AS batch_id${more} FROM ${before}messages m LEFT JOIN ${before}batches b ON b.seq = m.batch`;

export function toMessage(row: MessageRow, projectId: string): MessageRecord {
  return {
    id: row.id,
    projectId,
    batchId: row.batch_id,
    channel: row.channel,
    to: row.recipient,
    operator: row.operator,
    status: row.status,
    parts: row.parts,
    rateMultiplier: row.rate_multiplier,
    credits: row.credits,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    delivery: row.delivery,
    carrierCode: carrierCodeOf(row),
    createdAt: row.created_at,
    sentAt: row.sent_at,
  };
}

/** Of its last answer, or of its receipt. */
function carrierCodeOf({ error_code, tried, receipt_code }: MessageRow): string | undefined {
  return (error_code === 'provider_failed' ? triedOf(tried).at(-1)?.code : receipt_code) || undefined;
}

export interface BatchRow {
  seq: number;
  id: string;
  channel: Channel;
  total: number;
  sent: number;
  failed: number;
  unknown: number;
  credits: number;
  first_message: number;
  created_at: number;
  completed_at: number | null;
  pruned_at: number | null;
}

export function toBatch(row: BatchRow): BatchRecord {
  return {
    id: row.id,
    status: row.completed_at === null ? 'processing' : 'completed',
    channel: row.channel,
    total: row.total,
    sent: row.sent,
    failed: row.failed,
    unknown: row.unknown,
    credits: row.credits,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    prunedAt: row.pruned_at,
  };
}

export interface ContentRow {
  text: string | null;
  html: string | null;
  subject: string | null;
  sender: string | null;
  reply_to: string | null;
  encrypted: Uint8Array | null;
  is_bulk: boolean | number;
}

export function toContent(row: ContentRow): Content {
  const { text, html, subject, sender, reply_to, encrypted, is_bulk } = row;
  return { text, html, subject, from: sender, replyTo: reply_to, encrypted, isBulk: Boolean(is_bulk) };
}

export interface ProjectRow {
  id: string;
  name: string;
  balance: number;
  settings: string;
  created_at: number;
}

export function toProject({ id, name, balance, settings, created_at }: ProjectRow): ProjectRecord {
  return { id, name, balance, settings, createdAt: created_at };
}

export interface KeyRow {
  id: string;
  hash: Uint8Array;
  prefix: string | null;
  label: string | null;
  created_by: string | null;
  scope: string;
  expires_at: number | null;
  created_at: number;
  revoked_at: number | null;
  used_at: number | null;
}

export function toKey(row: KeyRow, projectId: string): KeyRecord {
  return {
    id: row.id,
    projectId,
    hash: new Uint8Array(row.hash),
    prefix: row.prefix,
    label: row.label,
    createdBy: row.created_by,
    scope: scopeOf(row.scope),
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    usedAt: row.used_at,
  };
}

export interface LedgerRow {
  amount: number;
  reason: LedgerRecord['reason'];
  subject_id: string | null;
  note: string | null;
  created_at: number;
}

export function toLedger({ amount, reason, subject_id, note, created_at }: LedgerRow): LedgerRecord {
  return { amount, reason, subjectId: subject_id, note, createdAt: created_at };
}
