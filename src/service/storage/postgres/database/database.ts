import type { Connections, Send } from './connections.js';
import { StatementError, unavailable } from './failure.js';
import { inSchema, type OwnSchema } from './own-schema.js';

/** Attempts of a write that another transaction made fail. */
const maxTries = 5;

/** The database, as the parts of the store use it. Statements write `:s.` before names: see inSchema. */
export interface Database {
  /** The time passed to statements; null for the database's own. */
  now(): number | null;
  /** Runs one statement; 503 if the database cannot be used. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The same with StatementError for every failure. */
  attempt<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Does the work in a transaction; again if another one made it fail. 503 if the database cannot be used. */
  transact<Result>(work: (send: Send) => Promise<Result>): Promise<Result>;
  /** Milliseconds since the first connection after an outage was made. */
  connectedMs(): number;
}

export function databaseOn(
  connections: Connections,
  schema: OwnSchema,
  now: () => number | null,
  connectedMs: () => number,
  report: (error: unknown) => void,
): Database {
  const attempt = <Row>(text: string, values: readonly unknown[]) =>
    connections.query<Row>(inSchema(text, schema), values);
  async function repeated<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        const failure = error instanceof StatementError ? error.failure : 'refused';
        if (failure === 'conflict' && tries < maxTries) continue;
        if (failure === 'refused') throw error;
        if (failure !== 'not_sent') report(error);
        throw unavailable();
      }
    }
  }

  return {
    now,
    attempt,
    connectedMs,
    query: <Row>(text: string, values: readonly unknown[] = []) => repeated(() => attempt<Row>(text, values)),
    transact: (work) =>
      repeated(() =>
        connections.transact((send) => work((text, values) => send(inSchema(text, schema), values))),
      ),
  };
}
