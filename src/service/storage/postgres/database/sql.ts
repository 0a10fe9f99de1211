import { type Dialect, type Sql, type Statement, type Values, written } from '../../sql/sql.js';
import type { Database } from './database.js';

const dialect: Dialect = {
  lock: 'FOR NO KEY UPDATE',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  durable: `(SELECT pg_catalog.set_config('synchronous_commit'::text, 'on'::text, true) IS NOT NULL
    AND pg_catalog.set_config('lock_timeout'::text, '2s'::text, true) IS NOT NULL)`,
  greatest: 'greatest',
  isAtHome: ':s.is_of_home_1(home, written, xmin)',
  isInPlace: '(place = :s.place_1() AND xmin::text::bigint = written)',
  putInPlace: ', place = excluded.place, written = excluded.written',
};

/** For the parts of the store that are written once: a transaction is a short one on a connection of its own. */
export function postgresSql(database: Database): Sql {
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

  const run = <Row>(text: string, values: Values = {}) => database.query<Row>(...asked({ text, values }));

  return {
    read: run,
    write: run,
    transact: (begin) =>
      database.transact(async (send) => {
        const transaction = begin();
        let step = transaction.next([]);
        while (!step.done) step = transaction.next(await send(...asked(step.value)));
        return step.value;
      }),
  };
}

function bound(values: Values, name: string): unknown {
  const value = values[name];
  if (value === undefined) throw new Error(`:${name} is unknown`);
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}
