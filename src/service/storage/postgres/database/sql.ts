import { spellings } from '../../sql/spellings.js';
import {
  type Dialect,
  type Sql,
  type Statement,
  type Transaction,
  type Values,
  written,
} from '../../sql/sql.js';
import { type Lost, repeatLost } from '../lost-commits.js';
import { attemptsARelease } from '../schema/constants.js';
import type { Database } from './database.js';
import { orUnavailable, StatementError } from './failure.js';
import { Groups } from './groups.js';

type Key = Readonly<Record<string, string>>;

const dialect: Dialect = {
  lock: 'FOR NO KEY UPDATE',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  durable: `(SELECT pg_catalog.set_config('synchronous_commit'::text, 'on'::text, true) IS NOT NULL
    AND pg_catalog.set_config('lock_timeout'::text, '2s'::text, true) IS NOT NULL)`,
  reportersAreDone: ':s.await_reporters_1()',
  holdReason: ':s.hold_reason_1()',
  greatest: 'greatest',
  in: '= ANY (?)',
  rows: '(SELECT pg_catalog.unnest(?::text[]) AS value)',
  unknownOfBatch: '(SELECT count(*) FROM :s.unknown_deliveries u WHERE u.batch = b.seq)',
  isInBatch: 'm.batch = :batch',
  lifeBegan: 'v.counts_at',
  life: 'v.life_ms',
  ledgerFloor: '0',
  alone: 'pg_catalog.pg_advisory_xact_lock(7788003, pg_catalog.hashtext(key))',
  byProject: '',
  byRecipient: '',
  bySpelling: '',
  byProjectOfBatch: '',
  byProjectOfVerification: '',
  firstInTime: '0',
  lastInTime: `${Number.MAX_SAFE_INTEGER}`,
  // Looks up the recipients of each project, rather than scanning all of its messages.
  ofRecipient: `:s.projects p CROSS JOIN LATERAL (
    SELECT m.* FROM (${spellings('p.seq')}) r
    JOIN :s.messages m ON m.project = p.seq AND m.recipient = r.recipient OFFSET 0) m`,
  erasedAt: 'counts_at',
  queueRows: ':s.queue',
  // Looks them up one by one: a join would read all messages.
  leasedMessages: `:s.leases l CROSS JOIN LATERAL pg_catalog.unnest(l.messages) AS s(seq)
    CROSS JOIN LATERAL (SELECT m.lane, m.route FROM :s.messages m
      WHERE m.seq = s.seq AND m.status = 'queued' OFFSET 0) m`,
  // A join would search all messages for them.
  waiting:
    ':s.messages WHERE seq = ANY (ARRAY(SELECT message FROM :s.queue WHERE class < 2 LIMIT :lookedAt))',
  attempts: `m.attempts % ${attemptsARelease}`,
  encrypted: 'c.encrypted',
  idOfSignIn: "left(pg_catalog.encode(hash, 'hex'), 12)",
  isAtHome: ':s.is_of_home_1(home, written, xmin)',
  isInPlace: '(place = :s.place_1() AND xmin::text::bigint = written)',
  putInPlace: ', place = excluded.place, written = excluded.written',
};

const uniqueViolation = '23505';

/** For the parts of the store that are written once: a transaction is a short one on a connection of its own. */
export function postgresSql(database: Database, lost: Lost): Sql {
  const compiled = new Map<string, { filled: string; names: string[] }>();

  function compile(text: string) {
    const names: string[] = [];
    const filled = written(text, dialect, (name) => {
      if (!names.includes(name)) names.push(name);
      const parameter = `$${names.indexOf(name) + 1}`;
      // Read once, and as good as a value for an index.
      return name === 'now' ? `(SELECT :s.time_1(${parameter}::bigint))` : parameter;
    });
    const made = { filled, names };
    compiled.set(text, made);
    return made;
  }

  function asked({ text, values }: Statement): [text: string, values: unknown[]] {
    const { filled, names } = compiled.get(text) ?? compile(text);
    return [filled, names.map((name) => (name === 'now' ? database.now() : bound(values, name)))];
  }

  const finders = new Map<string, Groups<Key, unknown>>();

  /** Looks up many keys at once: a burst of requests needs few connections. */
  function finder(text: string): Groups<Key, unknown> {
    const names: string[] = [];
    const one = written(text, dialect, (name) => {
      if (!names.includes(name)) names.push(name);
      return `w.k_${name}`;
    });
    const lists = names.map((_, index) => `pg_catalog.unnest($${index + 1}::text[])`);
    const columns = names.map((name) => `k_${name}`);
    const all = `SELECT w.ord::int, found.* FROM ROWS FROM (${lists}) WITH ORDINALITY AS w(${columns}, ord)
      CROSS JOIN LATERAL (${one} LIMIT 1) found`;
    const made = new Groups<Key, unknown>(async (keys) => {
      const places = keys.map((key) => JSON.stringify(names.map((name) => key[name])));
      // Many ask for the same.
      const different = [...new Map(places.map((place, index) => [place, keys[index] as Key]))];
      const [first] = different;
      if (first !== undefined && different.length === 1) {
        // As most do, and planned in half the time.
        const [row] = await database.attempt(...asked({ text, values: first[1] }));
        return keys.map(() => row);
      }
      const rows = await database.attempt<{ ord: number }>(
        all,
        names.map((name) => different.map(([, key]) => key[name])),
      );
      const found = new Map(rows.map((row) => [different[row.ord - 1]?.[0], row]));
      return places.map((place) => found.get(place));
    });
    finders.set(text, made);
    return made;
  }

  const run = <Row>(text: string, values: Values = {}) => database.query<Row>(...asked({ text, values }));

  const transact = <Result>(begin: () => Transaction<Result>) =>
    database.transact(async (send) => {
      const transaction = begin();
      let step = transaction.next([]);
      while (!step.done) step = transaction.next(await send(...asked(step.value)));
      return step.value;
    });

  return {
    connectedMs: () => database.connectedMs(),
    read: run,
    find: <Row>(text: string, key: Key) =>
      orUnavailable((finders.get(text) ?? finder(text)).add(key) as Promise<Row | undefined>, lost.report),
    write: run,
    together<Row>(first: Parameters<Sql['together']>[0], last: string, values: Values) {
      const parts = first.map(([name, text]) => `${name} AS (${text})`);
      const given = asked({ text: `WITH ${parts} ${last}`, values });
      const call = () => database.attempt<Row & { is_known: boolean }>(...given);
      const once = () => repeatLost(lost, [], call);
      const isThere = (error: unknown) => error instanceof StatementError && error.code === uniqueViolation;
      return orUnavailable(
        once().catch((error) => {
          if (!isThere(error)) throw error;
          return once();
        }),
        lost.report,
      );
    },
    transact,
    erase: transact,
  };
}

function bound(values: Values, name: string): unknown {
  const value = values[name];
  if (value === undefined) throw new Error(`:${name} is unknown`);
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}
