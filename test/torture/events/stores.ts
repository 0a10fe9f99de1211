import type { EventType } from '../../../src/contract/index.js';
import type { EventPlace, Store } from '../../../src/service/storage/store.js';
import { query } from '../../support/postgres.js';
import { isDatabase } from '../service/data.js';

/** A store as it ships, and two that place events by what PostgreSQL gives them as they are written. */
export type StoreKind = 'shipped' | 'by_id' | 'by_snapshot';

interface Row {
  place: string;
  type: EventType;
  subject: string;
  at: string;
  id: string;
}

/** By the transaction that wrote it, once all that began before it are over. */
const bySnapshot = 'e.xmin::text::bigint * 1000000 + e.seq';

export function storeOf(kind: StoreKind, url: string, store: Store): Store {
  if (kind === 'shipped' || !isDatabase(url)) return store;
  const [place, isVisible] =
    kind === 'by_id'
      ? ['e.seq', 'true']
      : [bySnapshot, 'e.xmin::text::bigint < pg_snapshot_xmin(pg_current_snapshot())::text::bigint'];
  const isBegun = async (projectId: string) =>
    (
      await query<{ line: string }>(
        url,
        'SELECT line FROM urtuu.projects WHERE id = $1 AND line IS NOT NULL',
        [projectId],
      )
    )[0];
  return {
    ...store,
    async takeEvents(projectId: string, after: EventPlace | null, { limit }) {
      const found = await isBegun(projectId);
      if (found === undefined) return after === null ? null : 'expired';
      const line = Number(found.line);
      if (after !== null && after.line !== line) return 'expired';
      const rows = await query<Row>(
        url,
        `SELECT ${place} AS place, e.type, e.at, coalesce(m.id, b.id, i.id, s.recipient) AS id FROM urtuu.events e
         LEFT JOIN urtuu.messages m ON m.seq = e.subject AND e.type IN ('message.sent', 'message.failed', 'message.delivery')
         LEFT JOIN urtuu.batches b ON b.seq = e.subject AND e.type = 'batch.completed'
         LEFT JOIN urtuu.inbox i ON i.seq = e.subject AND e.type = 'message.received'
         LEFT JOIN urtuu.suppressions s ON s.seq = e.subject AND e.type = 'recipient.suppressed'
         WHERE e.line = $1 AND ${place} > $2 AND ${isVisible} ORDER BY 1 LIMIT $3`,
        [line, after?.number ?? 0, limit],
      );
      const subjectOf = ({ type, id }: Row) => {
        if (type === 'batch.completed') return store.getBatch(projectId, id);
        if (type === 'message.received') return { id };
        if (type === 'recipient.suppressed') return { to: id, reason: 'manual' as const, createdAt: 0 };
        return store.getMessage(projectId, id);
      };
      const events = [];
      for (const row of rows) {
        const { place: number, type, at } = row;
        events.push({ line, number: Number(number), type, at: Number(at), subject: await subjectOf(row) });
      }
      return { events, next: { line, number: events.at(-1)?.number ?? after?.number ?? 0 } };
    },
  };
}
