import type { Urtuu } from '../../client/index.js';
import type { BatchRow, MessageRow } from '../output/views.js';
import type { Resource } from './lookup.js';
import { isFinalMessage } from './wait.js';

export const messageResource = ({ messages }: Urtuu): Resource<MessageRow> => ({
  noun: 'message',
  read: (id) => messages.get(id),
  isFinal: isFinalMessage,
  failed: ({ status }) => (status === 'failed' ? 'all' : 'none'),
  unknown: ({ delivery }) => Number(delivery === 'unknown'),
});

export const batchResource = ({ batches }: Urtuu): Resource<BatchRow> => ({
  noun: 'batch',
  read: (id) => batches.get(id),
  isFinal: ({ status }) => status === 'completed',
  progress: ({ sent = 0, failed = 0, unknown = 0, total = 0 }) => ({
    text: `${sent} of ${total} sent, ${failed} failed${unknown === 0 ? '' : `, ${unknown} unknown`}`,
    done: sent + failed,
    total,
  }),
  contradiction: ({ id, sent = 0, failed = 0, total = 0 }) =>
    sent + failed === total
      ? null
      : `batch ${id} is completed, but accounts for ${sent + failed} of ${total} recipients`,
  failed: ({ failed = 0, total }) => (failed === 0 ? 'none' : failed === total ? 'all' : 'some'),
  unknown: ({ unknown = 0 }) => unknown,
});
