import { type Channel, comparedRecipient } from '../../../contract/index.js';
import { query, type Sql } from '../../storage/sql/sql.js';
import { everyAttempt } from '../carrier.js';
import { type DeliveryRecord, type Outbox, type OutboxFilter, outboxDepth, outboxPage } from './outbox.js';

/** As every engine stores it. */
interface DeliveryRow {
  seq: number;
  reference: string;
  channel: Channel;
  recipient: string;
  text: string | null;
  subject: string | null;
  html: string | null;
  sender: string | null;
  reply_to: string | null;
  route: string;
  delivered_at: number;
}

function toRecord(row: DeliveryRow): DeliveryRecord {
  return {
    messageId: row.reference,
    channel: row.channel,
    to: row.recipient,
    text: row.text,
    subject: row.subject,
    html: row.html,
    from: row.sender,
    replyTo: row.reply_to,
    route: row.route,
    deliveredAt: row.delivered_at,
  };
}

/** What each engine does in its own way. */
interface Own extends Pick<Outbox, 'deliver' | 'ageOrFence' | 'close'> {
  /** The number of the newest delivery, when no other one below it can appear any more; 0 without any. */
  newest(): Promise<number>;
}

/** Its tables of fences and of first names, and the column of these. */
interface Names {
  fences: string;
  firsts: string;
  name: string;
}

const isToRecipient = '(:to::text IS NULL OR lower(recipient) = :to)';

/** The rest of an outbox, which is the same in every engine. */
export function sqlOutbox(sql: Sql, { fences, firsts, name }: Names, { newest, ...own }: Own): Outbox {
  async function* read({ limit, after, isNewestFirst = false, ...filter }: OutboxFilter) {
    const to = filter.to === undefined ? null : comparedRecipient(filter.to);
    const end = await newest();
    const [beyond, order] = isNewestFirst ? ['<', 'DESC'] : ['>', 'ASC'];
    const floor = isNewestFirst ? end - outboxDepth : 0;
    let last = isNewestFirst ? end + 1 : 0;
    const placeIn = async (text: string, values: { after: string } | { to: string | null; limit: number }) =>
      (await sql.read<{ last: number | null }>(text, values))[0]?.last ?? end;
    if (after !== undefined)
      last = await placeIn('SELECT min(seq) AS last FROM :s.deliveries WHERE reference = :after', { after });
    // The number before the newest of them.
    if (limit !== undefined)
      last = await placeIn(
        `SELECT min(seq) - 1 AS last FROM (
           SELECT seq FROM :s.deliveries WHERE ${isToRecipient} ORDER BY seq DESC LIMIT :limit) newest`,
        { to, limit },
      );
    for (;;) {
      const rows = await sql.read<DeliveryRow>(
        `SELECT * FROM :s.deliveries WHERE seq ${beyond} :last AND seq > :floor AND seq <= :end AND ${isToRecipient}
         ORDER BY seq ${order} LIMIT ${outboxPage}`,
        { to, last, floor, end },
      );
      for (const row of rows) {
        yield toRecord(row);
        last = row.seq;
      }
      if (rows.length < outboxPage) return;
    }
  }

  return {
    ...own,
    read,
    async find(ids) {
      const text = 'SELECT * FROM :s.deliveries WHERE reference :in(ids) ORDER BY seq';
      return (await sql.read<DeliveryRow>(text, { ids })).map(toRecord);
    },
    forget: (ids) =>
      sql.erase(function* () {
        yield* query('DELETE FROM :s.deliveries WHERE reference :in(ids)', { ids });
      }),
    async repeats() {
      const [row] = await sql.read<{ repeats: number }>(
        `SELECT count(*) - (SELECT count(*) FROM (SELECT DISTINCT reference FROM :s.deliveries) different) AS repeats
         FROM :s.deliveries`,
      );
      return row?.repeats ?? 0;
    },
    async isFirst(given) {
      const rows = await sql.write(
        `INSERT INTO :s.${firsts} (${name}) VALUES (:given) ON CONFLICT DO NOTHING RETURNING ${name}`,
        { given },
      );
      return rows.length === 1;
    },
    async reset() {
      await sql.write('DELETE FROM :s.deliveries');
      await sql.write(`DELETE FROM :s.${firsts}`);
      // Fences for all attempts remain: a paused process may still submit one.
      await sql.write(`DELETE FROM :s.${fences} WHERE before < ${everyAttempt}`);
    },
  };
}
