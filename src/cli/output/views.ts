import type { Batch, Message, Verification } from '../../contract/index.js';
import { field, type View } from './view.js';

/** Result fields that only some answers have. */
type Extra = { balance?: number; replayed?: true };
/** An id that the project does not have, in its place among the others. */
export interface Missing {
  id: string;
  status: 'not_found';
}
/** A message as it is shown: whole, with a balance after a send, or missing. */
export type MessageRow = Partial<Omit<Message, 'status'>> & Extra & { id: string; status: string };
export type BatchRow = Partial<Omit<Batch, 'status'>> & Extra & { id: string; status: string };
export type VerificationRow = Verification & Extra;

export const messageView: View<MessageRow> = {
  columns: [
    field('id'),
    field('status', { kind: 'status' }),
    field('channel'),
    field('to', { kind: 'recipient' }),
    { name: 'parts', kind: 'number', value: (row) => ('parts' in row ? (row.parts as number) : null) },
    field('credits', { kind: 'number' }),
    { name: 'error', value: (row) => row.error?.code },
    field('created_at', { kind: 'time', detail: true }),
    field('sent_at', { kind: 'time' }),
    field('batch_id', { detail: true }),
    field('balance', { kind: 'number', detail: true }),
  ],
  record: (row) => row,
  empty: 'There are no messages.',
};

export const batchView: View<BatchRow> = {
  columns: [
    field('id'),
    field('status', { kind: 'status' }),
    field('channel'),
    field('total', { kind: 'number' }),
    field('sent', { kind: 'number' }),
    field('failed', { kind: 'number' }),
    field('credits', { kind: 'number' }),
    field('created_at', { kind: 'time', detail: true }),
    field('completed_at', { kind: 'time' }),
    field('balance', { kind: 'number', detail: true }),
  ],
  record: (row) => row,
};

export const verificationView: View<VerificationRow> = {
  columns: [
    field('id'),
    field('status', { kind: 'status' }),
    field('channel'),
    field('to', { kind: 'recipient' }),
    field('attempts_remaining', { kind: 'number' }),
    field('credits', { kind: 'number' }),
    field('created_at', { kind: 'time' }),
    field('expires_at', { kind: 'time' }),
    field('verified_at', { kind: 'time' }),
    field('balance', { kind: 'number', detail: true }),
  ],
  record: (row) => row,
};
