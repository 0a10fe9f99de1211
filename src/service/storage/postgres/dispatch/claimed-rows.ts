import type { Channel } from '../../../../contract/index.js';
import { type Earlier, earlierMessages, longestWindow } from '../../caps.js';
import { type ClaimedMessage, joinsWithin } from '../../dispatching.js';
import type { Content, Instant } from '../../records.js';
import { mailboxIn, noneEarlier, pseudonymList } from '../../shared/recipients.js';
import { type ContentRow, toContent } from '../../shared/rows.js';
import type { PseudonymOf } from '../../shared/secret.js';
import type { TriedRun } from '../../tried.js';
import type { Database } from '../database/database.js';

/** A row of claimed_1 in the schema. */
export interface ClaimedRow {
  seq: number;
  id: string;
  project: string;
  batch: string | null;
  content: number;
  channel: Channel;
  recipient: string;
  operator: string | null;
  parts: number | null;
  rate_multiplier: number | null;
  credits: number;
  created_at: number;
  attempts: number;
  pending_key: string | null;
  lane: string;
  route: string | null;
  tries: number;
  bound_ms: number;
  life_ms: number | null;
  doubt_left_ms: number | null;
  is_stopped: boolean;
  earlier: number[] | null;
}

/** Makes messages of claimed rows, with what their claim did not read. */
export type ToClaimed = (rows: readonly ClaimedRow[], token: string) => Promise<ClaimedMessage[]>;

export function createClaimedRows(database: Database, pseudonymOf: PseudonymOf): ToClaimed {
  async function toClaimed(rows: readonly ClaimedRow[], token: string): Promise<ClaimedMessage[]> {
    if (rows.length === 0) return [];
    const numbers = [...new Set(rows.map(({ content }) => content))];
    const found = await database.query<
      ContentRow & { seq: number; has_erasures: boolean; has_spellings: boolean }
    >(
      'SELECT *, EXISTS (SELECT 1 FROM :s.erasures) AS has_erasures, :s.has_spellings_1() AS has_spellings FROM :s.contents WHERE seq = ANY ($1::bigint[])',
      [numbers],
    );
    const contents = new Map(found.map((row) => [row.seq, toContent(row)]));
    const [{ has_erasures: hasErasures, has_spellings: hasSpellings } = {}] = found;
    const counted = rows.filter(
      ({ batch, channel }) => batch !== null && (hasErasures || (hasSpellings && channel === 'email')),
    );
    const earlier = counted.length > 0 ? await earlierTo(counted) : null;
    const tried = rows.some(({ attempts }) => attempts > 0) ? await triedOf(rows) : null;
    const marked = rows.filter(({ route }) => route !== null);
    const receipts = marked.length > 0 ? await receiptsOf(marked) : null;
    return rows.flatMap((row) => {
      const content = contents.get(row.content);
      // The message has become final since the claim.
      if (content === undefined) return [];
      const claimed = claimedMessage(row, content, token);
      return {
        ...claimed,
        tried: tried?.get(row.seq) ?? claimed.tried,
        earlier: earlier?.get(row.seq) ?? claimed.earlier,
        receipts: receipts?.get(row.seq) ?? claimed.receipts,
      };
    });
  }

  async function triedOf(rows: readonly ClaimedRow[]): Promise<Map<number, TriedRun[]>> {
    const found = await database.query<{ seq: number; tried: TriedRun[] }>(
      'SELECT seq, tried FROM :s.messages WHERE seq = ANY ($1::bigint[]) AND tried IS NOT NULL',
      [rows.flatMap(({ seq, attempts }) => (attempts > 0 ? [seq] : []))],
    );
    return new Map(found.map(({ seq, tried }) => [seq, tried]));
  }

  /** Read again with what the claim cannot compute: mailboxes, and pseudonyms of recipients that were erased since. */
  async function earlierTo(counted: readonly ClaimedRow[]): Promise<Map<number, Earlier>> {
    const found = await database.query<{ seq: number; earlier: [own: Instant[], all: Instant[]] | null }>(
      `SELECT m.seq, :s.earlier_both_1(m.project, w.recipient, w.mailbox, m.created_at - $5::bigint, m.seq, $6::int,
         ARRAY(SELECT p FROM pg_catalog.json_array_elements_text(w.pseudonyms) p)) AS earlier
       FROM unnest($1::bigint[], $2::text[], $3::text[], $4::json[]) AS w(seq, recipient, mailbox, pseudonyms)
       CROSS JOIN LATERAL (SELECT * FROM :s.messages m WHERE m.seq = w.seq OFFSET 0) m`,
      [
        counted.map(({ seq }) => seq),
        counted.map(({ recipient }) => recipient),
        counted.map(({ recipient }) => mailboxIn(recipient)),
        counted.map(({ recipient }) => JSON.stringify(pseudonymList(recipient, pseudonymOf))),
        longestWindow,
        earlierMessages,
      ],
    );
    return new Map(
      found.map(({ seq, earlier }) => [
        seq,
        earlier === null ? noneEarlier : { own: earlier[0], all: earlier[1] },
      ]),
    );
  }

  /** A receipt that arrived before the mark may belong to an older message, and so may one that also fits others. */
  async function receiptsOf(rows: readonly ClaimedRow[]): Promise<Map<number, string[]>> {
    const found = await database.query<{ seq: number; ids: string[] }>(
      `SELECT m.seq, pg_catalog.array_agg(r.carrier_id ORDER BY r.carrier_id) AS ids
       FROM pg_catalog.unnest($2::bigint[]) AS w(seq), :s.time_1($1::bigint) AS at
       CROSS JOIN LATERAL (SELECT * FROM :s.messages m WHERE m.seq = w.seq OFFSET 0) m
       CROSS JOIN LATERAL (SELECT * FROM :s.receipts r WHERE r.recipient = m.recipient AND r.message IS NULL OFFSET 0) r
       WHERE r.state IS NOT NULL AND r.route = m.route
         AND r.received_at >= coalesce(m.marked_at, m.created_at) AND r.received_at > at - ${joinsWithin}
         AND r.reference <> '' AND right(m.id, length(r.reference)) = r.reference
         AND NOT EXISTS (SELECT 1 FROM :s.messages o
           WHERE o.project = ANY (ARRAY(SELECT seq FROM :s.projects)) AND o.recipient = m.recipient
             AND o.counts_at > at - ${joinsWithin} AND o.seq <> m.seq AND o.route = r.route
             AND right(o.id, length(r.reference)) = r.reference)
       GROUP BY m.seq`,
      [database.now(), rows.map(({ seq }) => seq)],
    );
    return new Map(found.map(({ seq, ids }) => [seq, ids]));
  }

  return toClaimed;
}

function claimedMessage(row: ClaimedRow, content: Content, token: string): ClaimedMessage {
  return {
    seq: row.seq,
    message: {
      id: row.id,
      projectId: row.project,
      batchId: row.batch,
      channel: row.channel,
      to: row.recipient,
      operator: row.operator,
      status: 'queued',
      parts: row.parts,
      rateMultiplier: row.rate_multiplier,
      credits: row.credits,
      error: null,
      delivery: null,
      createdAt: row.created_at,
      sentAt: null,
    },
    content,
    token,
    lane: row.lane,
    pendingKey: row.pending_key,
    mark: row.route === null ? null : { attempt: row.attempts, route: row.route },
    attempts: row.attempts,
    tries: row.tries,
    tried: [],
    boundMs: row.bound_ms,
    lifeMs: row.life_ms,
    doubtMs: row.doubt_left_ms,
    receipts: [],
    isStopped: row.is_stopped,
    earlier: row.earlier && { own: row.earlier, all: row.earlier },
  };
}
