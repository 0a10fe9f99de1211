import type { Clock } from '../../../clock.js';
import { pruneRows } from '../../pruning.js';
import { spellings } from '../../sql/spellings.js';
import {
  type Dialect,
  type Sql,
  type Statement,
  type Transaction,
  type Value,
  type Values,
  written,
} from '../../sql/sql.js';
import { inTime } from '../accept/message-blocks.js';
import { acceptedAt } from '../clock-corrections.js';
import { leasedMessages } from '../dispatch/leases.js';
import { isOfList } from '../dispatch/quiet.js';
import type { Database, Statement as Prepared } from './database.js';
import type { GroupCommit } from './group-commit.js';
import { overwriting } from './overwriting.js';

/** Rows of the ledger that are read for a page. */
const ledgerRows = 20_000;

/** One process writes at a time, and a file is not restored while it is served. */
const dialect: Dialect = {
  lock: '',
  skipLocked: '',
  durable: 'true',
  reportersAreDone: 'true',
  holdReason: '(SELECT reason FROM hold)',
  greatest: 'max',
  in: 'IN (SELECT value FROM json_each(?))',
  rows: 'json_each(?)',
  unknownOfBatch: `(SELECT count(*) FROM messages m INDEXED BY messages_unknown
    WHERE m.batch = b.seq AND m.delivery = 'unknown')`,
  // The index of batches is of the unknown ones alone; the messages of a batch follow each other.
  isInBatch: `m.seq BETWEEN (SELECT first_message FROM batches WHERE seq = :batch)
    AND (SELECT first_message + total - 1 FROM batches WHERE seq = :batch) AND m.batch = :batch`,
  lifeBegan: acceptedAt('v.message', 'v.created_at'),
  life: 'v.expires_at - v.created_at',
  // It has no index by project.
  ledgerFloor: `coalesce((SELECT seq FROM ledger WHERE seq < :before ORDER BY seq DESC LIMIT 1 OFFSET ${ledgerRows - 1}), 0)`,
  alone: 'true',
  byProject: 'INDEXED BY messages_project',
  byRecipient: 'INDEXED BY messages_recent',
  bySpelling: 'INDEXED BY messages_spelled',
  byProjectOfBatch: 'INDEXED BY batches_project',
  byProjectOfVerification: 'INDEXED BY verifications_project',
  firstInTime: inTime('min(first)'),
  lastInTime: inTime('max(last)'),
  ofRecipient: `projects p CROSS JOIN messages m INDEXED BY messages_recent
    ON m.project = p.seq AND m.recipient IN (${spellings('p.seq')})`,
  erasedAt: 'accepted_at',
  queueRows: `(SELECT lane, ${isOfList} AS class, due_at FROM messages
      WHERE due_at IS NOT NULL AND route IS NULL
    UNION ALL SELECT lane, 2, due_at FROM messages WHERE due_at IS NOT NULL AND route IS NOT NULL)`,
  leasedMessages,
  waiting: `(SELECT project, created_at FROM messages INDEXED BY messages_waiting
    WHERE due_at IS NOT NULL AND route IS NULL LIMIT :lookedAt)`,
  attempts: 'm.attempts',
  encrypted: 'c.sealed',
  idOfSignIn: 'lower(substr(hex(hash), 1, 12))',
  isAtHome: 'true',
  isInPlace: 'true',
  putInPlace: '',
};

/** For the parts of the store that are written once: transactions run within a group's commit. */
export function sqliteSql(
  database: Database,
  clock: Clock,
  commits: GroupCommit,
  read: <Result>(work: () => Result) => Promise<Result>,
): Sql {
  const connectedAt = clock.monotonic();
  const prepared = new Map<string, { statement: Prepared; names: string[] }>();

  function prepare(text: string) {
    const names: string[] = [];
    const filled = written(text, dialect, (name) => {
      names.push(name);
      return '?';
    });
    const statement = database.prepare(
      filled.replaceAll(':s.', '').replaceAll(/::\w+(\[\])?| COLLATE "C"/g, ''),
    );
    const made = { statement, names };
    prepared.set(text, made);
    return made;
  }

  function run<Row>({ text, values }: Statement): Row[] {
    const { statement, names } = prepared.get(text) ?? prepare(text);
    return statement.all(
      ...names.map((name) => (name === 'now' ? clock.now() : bound(values, name))),
    ) as Row[];
  }

  function drive<Result>(transaction: Transaction<Result>): Result {
    let step = transaction.next([]);
    while (!step.done) step = transaction.next(run(step.value));
    return step.value;
  }

  return {
    connectedMs: () => clock.monotonic() - connectedAt,
    read: (text, values = {}) => read(() => run({ text, values })),
    find: (text, values) => read(() => run<never>({ text, values })[0]),
    write: (text, values = {}) => commits.run(() => run({ text, values })),
    together: (first, last, values) =>
      commits.run(() => {
        let named = '';
        let all = values;
        for (const [name, text] of first) {
          const rows = run<object>({ text: named + text, values: all });
          const [, label, columns = ''] = name.match(/^(\w+) \((.*)\)/) ?? [];
          const read = columns.split(', ').map((_, index) => `value ->> ${index}`);
          named = `${named === '' ? 'WITH' : `${named},`} ${name} AS (SELECT ${read} FROM json_each(:${label})) `;
          all = { ...all, [`${label}`]: JSON.stringify(rows.map((row) => Object.values(row))) };
        }
        return run({ text: named + last, values: all });
      }),
    transact: (begin) => commits.run(() => drive(begin())),
    erase: (begin) => commits.run(() => overwriting(database, () => drive(begin())), pruneRows),
  };
}

function bound(values: Values, name: string): null | number | string | Uint8Array {
  const value: Value | undefined = values[name];
  if (value === undefined) throw new Error(`:${name} is unknown`);
  if (typeof value === 'boolean') return Number(value);
  return Array.isArray(value) ? JSON.stringify(value) : (value as null | number | string | Uint8Array);
}
