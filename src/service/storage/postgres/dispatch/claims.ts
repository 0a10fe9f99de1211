import type { Channel } from '../../../../contract/index.js';
import { earlierMessages, longestWindow } from '../../caps.js';
import {
  type ClaimedMessage,
  type Mark,
  type MessageClaim,
  overdueBefore,
  type Postponement,
} from '../../dispatching.js';
import type { Content } from '../../records.js';
import type { PseudonymOf } from '../../shared/secret.js';
import { inTurn } from '../../shared/turns.js';
import type { TriedRun } from '../../tried.js';
import type { Database } from '../database/database.js';
import { StatementError } from '../database/failure.js';
import { Groups } from '../database/groups.js';
import type { Lost } from '../lost-commits.js';
import { onceEach } from '../once-each.js';
import { joinsWithin } from '../schema/constants.js';

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

interface ContentRow {
  seq: number;
  text: string | null;
  html: string | null;
  subject: string | null;
  sender: string | null;
  reply_to: string | null;
  encrypted: Buffer | null;
  has_erasures: boolean;
}

type Claim = Pick<MessageClaim, 'token' | 'leaseMs' | 'limit' | 'lane'>;

interface MarkItem {
  seq: number;
  id: string;
  token: string;
  attempt: number;
  route: string;
  doubt_ms: number;
  request?: string;
}

const classes = { single: 0, batch: 1, doubt: 2 } as const;

export function createClaims(database: Database, lost: Lost, pseudonymOf: PseudonymOf) {
  const marks = new Groups<MarkItem, boolean>(
    (all) =>
      onceEach(all, async (items) => {
        const mark = items.some(({ request }) => request !== undefined) ? 'mark_3' : 'mark_2';
        const rows = await database
          .attempt<{ seq: number }>(`SELECT ${mark}($1, $2) AS seq`, [database.now(), JSON.stringify(items)])
          .catch((error) => {
            if (error instanceof StatementError && error.failure === 'unknown') lost.unmark(items);
            throw error;
          });
        const marked = new Set(rows.map(({ seq }) => seq));
        return items.map(({ seq }) => marked.has(seq));
      }),
    { isPatient: true },
  );

  /** Those that have waited longest first. */
  async function claim(
    statement: string,
    { token, leaseMs, limit, lane }: Claim,
    which: readonly [kind: number, more: number | boolean],
  ): Promise<ClaimedMessage[]> {
    const given = [database.now(), token, leaseMs, limit, lane, ...which];
    const rows = await database.query<ClaimedRow>(statement, [...given, longestWindow, earlierMessages]);
    return toClaimed(rows, token);
  }

  const claimOverdue = (given: MessageClaim) =>
    claim('SELECT * FROM claim_overdue_1($1, $2, $3, $4, $5, $6, $7, $8, $9)', given, [
      classes[given.class],
      overdueBefore[given.class],
    ]);

  async function claimInTurn({ token, leaseMs, limit, lane, class: kind, limits }: MessageClaim) {
    const given = [database.now(), token, leaseMs, limit, lane, classes[kind]];
    const rows = await database.query<ClaimedRow & { turned: object[] | null }>(
      'SELECT * FROM claim_2($1, $2, $3, $4, $5, $6, $7, $8, $9)',
      [...given, limits && JSON.stringify(Object.fromEntries(limits)), longestWindow, earlierMessages],
    );
    const [claimed] = await Promise.all([toClaimed(rows, token), rememberTurns(rows[0]?.turned)]);
    return inTurn(claimed);
  }

  async function rememberTurns(turned: object[] | null | undefined): Promise<void> {
    if (!turned) return;
    // A failure here loses a turn, but no message.
    await database.query('SELECT remember_turns_1($1)', [JSON.stringify(turned)]).catch(() => {});
  }

  /** Contents are kept while their messages are not final. */
  async function toClaimed(rows: readonly ClaimedRow[], token: string): Promise<ClaimedMessage[]> {
    if (rows.length === 0) return [];
    const numbers = [...new Set(rows.map(({ content }) => content))];
    const found = await database.query<ContentRow>(
      'SELECT *, EXISTS (SELECT 1 FROM erasures) AS has_erasures FROM contents WHERE seq = ANY ($1::bigint[])',
      [numbers],
    );
    const contents = new Map(found.map((row) => [row.seq, toContent(row)]));
    const earlier = found[0]?.has_erasures ? await earlierTo(rows) : null;
    const tried = rows.some(({ tries }) => tries > 0) ? await triedOf(rows) : null;
    const marked = rows.filter(({ route }) => route !== null);
    const receipts = marked.length > 0 ? await receiptsOf(marked) : null;
    return rows.flatMap((row) => {
      const content = contents.get(row.content);
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
      'SELECT seq, tried FROM messages WHERE seq = ANY ($1::bigint[]) AND tried IS NOT NULL',
      [rows.flatMap(({ seq, tries }) => (tries > 0 ? [seq] : []))],
    );
    return new Map(found.map(({ seq, tried }) => [seq, tried]));
  }

  /** Read again with sends to recipients erased since: the claim could not compute their pseudonyms. */
  async function earlierTo(rows: readonly ClaimedRow[]): Promise<Map<number, number[]>> {
    const counted = rows.filter(({ batch }) => batch !== null);
    const found = await database.query<{ seq: number; earlier: number[] }>(
      `SELECT m.seq, earlier_1(m.project, w.recipient, m.created_at - $4, m.seq, $5, w.pseudonym) AS earlier
       FROM unnest($1::bigint[], $2::text[], $3::text[]) AS w(seq, recipient, pseudonym)
       CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = w.seq OFFSET 0) m`,
      [
        counted.map(({ seq }) => seq),
        counted.map(({ recipient }) => recipient),
        counted.map(({ recipient }) => pseudonymOf(recipient)),
        longestWindow,
        earlierMessages,
      ],
    );
    return new Map(found.map(({ seq, earlier }) => [seq, earlier]));
  }

  /** A receipt that arrived before the mark may belong to an older message, and so may one that also fits others. */
  async function receiptsOf(rows: readonly ClaimedRow[]): Promise<Map<number, string[]>> {
    const found = await database.query<{ seq: number; ids: string[] }>(
      `SELECT m.seq, array_agg(r.carrier_id ORDER BY r.carrier_id) AS ids
       FROM unnest($2::bigint[]) AS w(seq), time_1($1) AS at
       CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = w.seq OFFSET 0) m
       CROSS JOIN LATERAL (SELECT * FROM receipts r WHERE r.recipient = m.recipient AND r.message IS NULL OFFSET 0) r
       WHERE r.state IS NOT NULL AND r.route = m.route
         AND r.received_at >= coalesce(m.marked_at, m.created_at) AND r.received_at > at - ${joinsWithin}
         AND r.reference <> '' AND right(m.id, length(r.reference)) = r.reference
         AND NOT EXISTS (SELECT 1 FROM messages o
           WHERE o.project = ANY (ARRAY(SELECT seq FROM projects)) AND o.recipient = m.recipient
             AND o.counts_at > at - ${joinsWithin} AND o.seq <> m.seq AND o.route = r.route
             AND (o.status = 'queued' OR o.delivery = 'unknown')
             AND right(o.id, length(r.reference)) = r.reference)
       GROUP BY m.seq`,
      [database.now(), rows.map(({ seq }) => seq)],
    );
    return new Map(found.map(({ seq, ids }) => [seq, ids]));
  }

  const heldOf = ({ seq, message: { id }, token, mark, lane }: ClaimedMessage) => ({
    seq,
    id,
    token,
    attempt: mark?.attempt ?? null,
    lane,
  });

  async function write(statement: string, all: readonly { seq: number }[]): Promise<void> {
    await onceEach(all, (items) => database.query(statement, [database.now(), JSON.stringify(items)]));
  }

  return {
    toClaimed,
    claimMessages: (given: MessageClaim) => (given.onlyOverdue ? claimOverdue(given) : claimInTurn(given)),
    claimDoubts: (given: Claim) =>
      claim('SELECT * FROM claim_1($1, $2, $3, $4, $5, $6, $7, $8, $9)', given, [classes.doubt, false]),
    markSubmitting: (given: readonly Mark[]) =>
      marks.addAll(
        given.map(({ claimed, attempt, route, doubtMs, request }) => ({
          seq: claimed.seq,
          id: claimed.message.id,
          token: claimed.token,
          attempt,
          route,
          doubt_ms: doubtMs,
          ...(request && { request: Buffer.from(request).toString('base64') }),
        })),
      ),
    async postponeMessages(postponements: readonly Postponement[]): Promise<void> {
      const items = postponements.map(({ claimed, delayMs, isTry, answer, lane = claimed.lane }) => ({
        ...heldOf(claimed),
        delay_ms: Math.ceil(delayMs),
        is_try: isTry,
        answer,
        lane,
      }));
      const hasAnswers = items.some(({ answer }) => answer !== undefined);
      await write(hasAnswers ? 'SELECT postpone_2($1, $2)' : 'SELECT postpone_1($1, $2)', items);
    },
    async leaveInDoubt(doubts: readonly { claimed: ClaimedMessage; delayMs: number }[]): Promise<void> {
      const items = doubts.map(({ claimed, delayMs }) => ({
        ...heldOf(claimed),
        delay_ms: Math.ceil(delayMs),
      }));
      await write('SELECT doubt_1($1, $2)', items);
    },
    async renewLeases(tokens: readonly string[], leaseMs: number): Promise<boolean[]> {
      const rows = await database.query<{ renew_1: string }>('SELECT renew_1($1, $2, $3)', [
        database.now(),
        tokens,
        leaseMs,
      ]);
      const renewed = new Set(rows.map(({ renew_1: token }) => token));
      return tokens.map((token) => renewed.has(token));
    },
    async endLeases(): Promise<void> {
      await database.query('SELECT end_leases_1($1, $2)', [
        database.now(),
        Math.floor(database.connectedMs()),
      ]);
    },
  };
}

export type Claims = ReturnType<typeof createClaims>;

function toContent({ text, html, subject, sender, reply_to, encrypted }: ContentRow): Content {
  return { text, html, subject, from: sender, replyTo: reply_to, encrypted };
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
    earlier: row.earlier,
  };
}
