import { joinsWithin, type Receipt } from '../dispatching.js';
import { isUnjoined, mostUnjoined, type Unjoined, unjoinedWithin } from '../insights.js';
import type { Store } from '../store.js';
import type { Sql } from './sql.js';

/** Like `normalId` of SMPP. */
const normalId = `CASE WHEN ltrim(carrier_id, '0') = '' THEN '0' ELSE lower(ltrim(carrier_id, '0')) END`;

/** Stores the codes of receipts that are stored; of a delivery it says nothing. */
export async function recordCodes(sql: Sql, receipts: readonly Receipt[]): Promise<void> {
  for (const { route, carrierId, otherId, to, state, code = null } of receipts)
    if (state !== 'delivered')
      await sql.write(
        `UPDATE :s.receipts SET code = :code::text WHERE route = :route AND carrier_id :in(ids) AND recipient = :to
           AND state = :state AND code IS DISTINCT FROM :code::text RETURNING state`,
        { route, ids: otherId ? [carrierId, otherId] : [carrierId], to, state, code },
      );
}

/** Receipts of carriers, beside the path of their messages. */
export function createReceipts(sql: Sql): Pick<Store, 'countUnjoined' | 'normalizeReceiptIds'> {
  return {
    countUnjoined: () =>
      sql.read<Unjoined>(
        `SELECT route, count(*) AS count FROM (SELECT route FROM :s.receipts
           WHERE ${isUnjoined} AND received_at > :now - ${unjoinedWithin} LIMIT ${mostUnjoined}) unjoined
         GROUP BY route ORDER BY route`,
      ),
    async normalizeReceiptIds(lanes) {
      if (lanes.length === 0) return;
      await sql.together(
        [
          [
            'marked (name)',
            `UPDATE :s.lanes SET has_normal_ids = true WHERE name :in(lanes) AND NOT has_normal_ids AND :durable
             RETURNING name`,
          ],
        ],
        // Of two that would become one, one stays as it is.
        `UPDATE :s.receipts SET carrier_id = ${normalId}
         WHERE coalesce(submitted_at, received_at) > :now - ${joinsWithin} AND (route, carrier_id, recipient) IN (
           SELECT route, carrier_id, recipient FROM (
             SELECT route, carrier_id, recipient, ${normalId} AS id, row_number() OVER (
               PARTITION BY route, recipient, ${normalId}
               ORDER BY carrier_id = ${normalId} DESC, coalesce(submitted_at, received_at) DESC, carrier_id) AS place
             FROM :s.receipts WHERE route IN (SELECT name FROM marked)) r
           WHERE place = 1 AND carrier_id <> id)`,
        { lanes },
      );
    },
  };
}
