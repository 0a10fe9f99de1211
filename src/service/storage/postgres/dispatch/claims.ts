import type { SuppressionReason } from '../../../../contract/index.js';
import { earlierMessages, longestWindow } from '../../caps.js';
import {
  type ClaimedMessage,
  isListMessage,
  type Mark,
  type Marked,
  type MessageClaim,
  overdueBefore,
  type Postponement,
} from '../../dispatching.js';
import { pseudonymList } from '../../shared/recipients.js';
import type { PseudonymOf } from '../../shared/secret.js';
import { inTurn } from '../../shared/turns.js';
import { isAskedAgain, obeysOptOuts } from '../../suppressions.js';
import type { Database } from '../database/database.js';
import { StatementError } from '../database/failure.js';
import { Groups } from '../database/groups.js';
import type { Lost } from '../lost-commits.js';
import { onceEach } from '../once-each.js';
import type { ClaimedRow, ToClaimed } from './claimed-rows.js';
import type { Quiet } from './quiet.js';

type Claim = Pick<MessageClaim, 'token' | 'leaseMs' | 'limit' | 'lane'>;

interface MarkItem {
  seq: number;
  /** For the database. */
  mark: {
    seq: number;
    id: string;
    token: string;
    attempt: number;
    route: string;
    doubt_ms: number;
    request?: string;
    /** Whether it obeys opt-outs, if it may be suppressed. */
    obeys?: boolean;
  };
  /** If it may be suppressed. */
  asked: { project: string; to: string } | null;
  waits: boolean;
}

interface MarkedRow {
  seq: number;
  /** Why its recipient is suppressed; null if it was marked. */
  reason?: SuppressionReason | null;
}

const classes = { single: 0, batch: 1, doubt: 2 } as const;
/** The functions that claim, and the types of the arguments in which they differ; the second is the last one. */
const claimFunctions = {
  claim_1: ['boolean'],
  claim_3: ['json', 'json'],
  claim_overdue_1: ['bigint'],
} as const;

export function createClaims(
  database: Database,
  lost: Lost,
  toClaimed: ToClaimed,
  pseudonymOf: PseudonymOf,
  quiet: Quiet,
) {
  /** From the first suppressed recipient on that was erased. */
  let needsPseudonyms = false;
  const marks = new Groups<MarkItem, Marked>(
    (all) =>
      onceEach(all, async (items) => {
        const rows = await mark(items).catch((error) => {
          if (error instanceof StatementError && error.failure === 'unknown')
            lost.unmark(items.map((item) => item.mark));
          throw error;
        });
        const marked = new Map(rows.map(({ seq, reason }) => [seq, reason ?? true]));
        return items.map(({ seq }) => marked.get(seq) ?? false);
      }),
    { isPatient: true },
  );

  async function mark(items: readonly MarkItem[]): Promise<MarkedRow[]> {
    const projects = [...new Set(items.flatMap(({ asked }) => asked?.project ?? []))];
    const hasRequests = items.some((item) => item.mark.request !== undefined);
    const given = items.map(({ mark, asked }) =>
      asked !== null && needsPseudonyms
        ? { ...mark, pseudonyms: pseudonymList(asked.to, pseudonymOf) }
        : mark,
    );
    const waits = items.some(({ waits }) => waits);
    const values = [database.now(), JSON.stringify(given), ...(waits ? [quiet.openings()] : [])];
    const awake = waits ? ':s.awake_1($1::bigint, $2::json, $3::json)' : '$2::json';
    const marking = `SELECT :s.${hasRequests ? 'mark_3' : 'mark_2'}($1::bigint, ${awake}) AS seq`;
    if (projects.length === 0) return database.attempt<MarkedRow>(marking, values);
    const next = values.length + 1;
    // Most have no list. None may be marked for another reason: then it is tried once more.
    const unlisted = await database.attempt<MarkedRow>(
      `${marking} WHERE NOT :s.is_listed_1($${next}::text[])`,
      [...values, projects],
    );
    if (unlisted.length > 0) return unlisted;
    const rows = await database.attempt<MarkedRow | { reason: 'erased' }>(
      `SELECT * FROM :s.mark_4($1::bigint, ${awake}, $${next}::text[], $${next + 1}::boolean)`,
      [...values, projects, hasRequests],
    );
    if (rows[0]?.reason !== 'erased') return rows as MarkedRow[];
    needsPseudonyms = true;
    return mark(items);
  }

  /** Calls a claim function of the schema, which returns the longest-waiting messages first. */
  function claim<Row = ClaimedRow>(
    name: keyof typeof claimFunctions,
    { token, leaseMs, limit, lane }: Claim,
    kind: keyof typeof classes,
    ...[argument, ...more]: unknown[]
  ): Promise<Row[]> {
    const [type, ...others] = claimFunctions[name];
    const types = ['bigint', 'text', 'bigint', 'int', 'text', 'int', type, 'bigint', 'int', ...others];
    const values = types.map((type, index) => `$${index + 1}::${type}`).join(', ');
    return database.query<Row>(`SELECT * FROM :s.${name}(${values})`, [
      database.now(),
      token,
      leaseMs,
      limit,
      lane,
      classes[kind],
      argument,
      longestWindow,
      earlierMessages,
      ...more,
    ]);
  }

  async function claimInTurn(given: MessageClaim): Promise<ClaimedMessage[]> {
    const { token, class: kind, limits } = given;
    const most = limits && JSON.stringify(Object.fromEntries(limits));
    await quiet.ready();
    const openings = quiet.openings();
    const rows = await claim<ClaimedRow & { turned: object[] | null }>(
      'claim_3',
      given,
      kind,
      most,
      openings,
    );
    const [claimed] = await Promise.all([toClaimed(rows, token), rememberTurns(rows[0]?.turned)]);
    return inTurn(claimed);
  }

  async function rememberTurns(turned: object[] | null | undefined): Promise<void> {
    if (!turned) return;
    // A failure here loses a turn, but no message.
    await database.query('SELECT :s.remember_turns_1($1::json)', [JSON.stringify(turned)]).catch(() => {});
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
    async claimMessages(given: MessageClaim): Promise<ClaimedMessage[]> {
      const { token, class: kind, onlyOverdue } = given;
      if (!onlyOverdue) return claimInTurn(given);
      return toClaimed(await claim('claim_overdue_1', given, kind, overdueBefore[kind]), token);
    },
    async claimDoubts(given: Claim): Promise<ClaimedMessage[]> {
      const onlyOverdue = false;
      return toClaimed(await claim('claim_1', given, 'doubt', onlyOverdue), given.token);
    },
    markSubmitting: (given: readonly Mark[]) =>
      marks.addAll(
        given.map(({ claimed, attempt, route, doubtMs, request }) => {
          const { seq, token, message, content } = claimed;
          const isAsked = isAskedAgain(claimed);
          const mark = {
            ...{ seq, id: message.id, token, attempt, route, doubt_ms: doubtMs },
            ...(request && { request: Buffer.from(request).toString('base64') }),
            ...(isAsked && { obeys: obeysOptOuts(message, content) }),
          };
          const asked = isAsked ? { project: message.projectId, to: message.to } : null;
          return { seq, mark, asked, waits: isListMessage(claimed) };
        }),
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
      await write(
        hasAnswers
          ? 'SELECT :s.postpone_2($1::bigint, $2::json)'
          : 'SELECT :s.postpone_1($1::bigint, $2::json)',
        items,
      );
    },
    async leaveInDoubt(doubts: readonly { claimed: ClaimedMessage; delayMs: number }[]): Promise<void> {
      const items = doubts.map(({ claimed, delayMs }) => ({
        ...heldOf(claimed),
        delay_ms: Math.ceil(delayMs),
      }));
      await write('SELECT :s.doubt_1($1::bigint, $2::json)', items);
    },
    async renewLeases(tokens: readonly string[], leaseMs: number): Promise<boolean[]> {
      const rows = await database.query<{ renew_1: string }>(
        'SELECT :s.renew_1($1::bigint, $2::text[], $3::bigint)',
        [database.now(), tokens, leaseMs],
      );
      const renewed = new Set(rows.map(({ renew_1: token }) => token));
      return tokens.map((token) => renewed.has(token));
    },
    async endLeases(): Promise<void> {
      await database.query('SELECT :s.end_leases_1($1::bigint, $2::bigint)', [
        database.now(),
        Math.floor(database.connectedMs()),
      ]);
    },
  };
}
