import type { Database, Statement } from './open.js';

/** Prepares statements when they are first needed: most processes never need them. */
export function prepareLate(database: Database): (sql: string) => Statement {
  const statements = new Map<string, Statement>();
  return (sql) => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
}
