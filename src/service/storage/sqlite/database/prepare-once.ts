import type { Database, Statement } from './database.js';

/** Prepares each SQL text only once. */
export function prepareOnce(database: Database): (sql: string) => Statement {
  const statements = new Map<string, Statement>();
  return (sql) => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
}
