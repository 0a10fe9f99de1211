import type { Batch, Message, Verification } from '../../contract/index.js';
import { grouped } from '../text/wording.js';
import { type Column, field, type View } from './view.js';

/** Fields of some answers only. */
type Extra = { balance?: number; replayed?: true };
/** Represents an unknown id among others. */
export interface Missing {
  id: string;
  status: 'not_found';
}
/** A message, with the balance after a send; or a missing one. */
export type MessageRow = Partial<Omit<Message, 'status'>> & Extra & { id: string; status: string };
export type BatchRow = Partial<Omit<Batch, 'status'>> & { id: string; status: string };
export type VerificationRow = Verification & Extra;

const messageColumns: readonly Column<MessageRow>[] = [
  field('id'),
  field('status', { kind: 'status' }),
  field('channel'),
  field('to', { kind: 'recipient' }),
  ofSms('parts'),
  field('credits', { kind: 'number' }),
  { name: 'error', value: (row) => row.error?.code },
  field('created_at', { kind: 'time', detail: true }),
  field('sent_at', { kind: 'time' }),
  field('batch_id', { detail: true }),
  field('delivery', { kind: 'status', detail: true }),
  { ...ofSms('rate_multiplier'), detail: true },
  field('carrier_code', { detail: true }),
];

/** Null for other channels. */
function ofSms(name: 'parts' | 'rate_multiplier'): Column<MessageRow> {
  return {
    name,
    kind: 'number',
    value: (row) => (name in row ? (row as unknown as Record<string, number>)[name] : null),
  };
}

/** Hides a multiplier of 1 from people. */
const cardOf = (columns: readonly Column<MessageRow>[]) =>
  columns.map((column) =>
    column.name === 'rate_multiplier'
      ? { ...column, value: (row: MessageRow) => (column.value(row) === 1 ? null : column.value(row)) }
      : column,
  );

export const messageView: View<MessageRow> = {
  columns: messageColumns,
  card: cardOf(messageColumns),
  record: (row) => row,
  empty: 'No messages.',
};

/** Lists are for scanning: their tables fit into 80 columns, with long addresses only without the time. */
export const messageListView: View<MessageRow> = {
  ...messageView,
  table: [
    field('id'),
    {
      name: 'status',
      kind: 'status',
      value: ({ status, delivery }) => (delivery === 'unknown' ? delivery : status),
    },
    field('created_at', { kind: 'time', spare: true }),
    field('to', { kind: 'recipient' }),
  ],
};

const balanceColumn = <Row extends Extra>(): Column<Row> =>
  field('balance', { kind: 'number', detail: true });

/** A message after its send, with the balance. */
export const sentView: View<MessageRow> = {
  columns: [...messageColumns, balanceColumn()],
  card: [...cardOf(messageColumns), balanceColumn()],
  record: (row) => row,
};

export const batchView: View<BatchRow> = {
  columns: [
    field('id'),
    field('status', { kind: 'status' }),
    field('channel'),
    field('total', { kind: 'number' }),
    field('sent', { kind: 'number' }),
    field('failed', { kind: 'number' }),
    field('unknown', { kind: 'number' }),
    field('credits', { kind: 'number' }),
    field('created_at', { kind: 'time', detail: true }),
    field('completed_at', { kind: 'time' }),
    field('pruned_at', { kind: 'time', detail: true }),
  ],
  // A service has some fields only for some batches, or never. One of several ids may be missing.
  record: (row) =>
    'total' in row ? { ...row, unknown: row.unknown ?? null, pruned_at: row.pruned_at ?? null } : row,
  empty: 'No batches.',
};

/** `998`, or `980 + 18 unknown` */
const sentText = ({ sent = 0, unknown = 0 }: BatchRow) =>
  unknown === 0 ? grouped(sent) : `${grouped(sent - unknown)} + ${grouped(unknown)} unknown`;

export const batchListView: View<BatchRow> = {
  ...batchView,
  table: [
    field('id'),
    field('created_at', { kind: 'time' }),
    field('total', { kind: 'number' }),
    { name: 'sent', kind: 'number', value: ({ sent }) => sent, words: sentText },
    field('failed', { kind: 'number' }),
  ],
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
  ],
  record: (row) => row,
};

/** A verification after its creation, with the balance. */
export const createdView: View<VerificationRow> = {
  columns: [...verificationView.columns, balanceColumn()],
  record: (row) => row,
};
