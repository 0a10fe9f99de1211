import { statSync } from 'node:fs';
import { Client, type ClientConfig, types } from 'pg';
import pgpass from 'pgpass';
import { type ExposedSecret, exposedSecret } from '../../../../contract/index.js';
import { DataError } from '../../../errors/data-error.js';
import { isPlainText, withTls } from './tls.js';

/** Longer than the 5 s of `statement_timeout`, which does not limit a commit that waits for a standby. */
const queryTimeout = 6_000;
const connectTimeout = 5_000;
const oldestVersion = 140_000;

const bigint = 20;
const bigintArray = 1016;

/** Numbers are safe integers here: credits, times and numbers of rows. */
const numbers: NonNullable<ClientConfig['types']> = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === bigint) return Number;
    const parse = types.getTypeParser(oid, format as 'text');
    return oid === bigintArray ? (text: string) => (parse(text) as unknown as string[]).map(Number) : parse;
  }) as typeof types.getTypeParser,
};

// A line of its own for each connection. The error of a server that then gets no password names the mode.
pgpass.warnTo(null);

/** Throws for a URL, a mode of TLS or a file of it that cannot be used. */
export function newClient(url: string, timeout: number | false = queryTimeout): Client {
  const connectionString = withTls(url);
  const exposed = exposedKey(connectionString);
  if (exposed?.isRefused) throw new DataError(exposed.problem, { hint: exposed.hint });
  const client = new Client({
    connectionString,
    types: numbers,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout,
    application_name: 'urtuu',
    // Nothing else when connecting: a pooler would refuse it.
    ...(timeout === false ? {} : { query_timeout: timeout }),
  }) as Omit<Client, 'password'> & { password: unknown };
  // The driver would find it too, with a warning.
  client.password ??= (connection: object) => new Promise((resolve) => pgpass(connection, resolve));
  return client as Client;
}

/** Of a client's certificate; null if there is none, or only its owner can use it. */
function exposedKey(url: string): ExposedSecret | null {
  const key = new URLSearchParams(url.split('?')[1]).get('sslkey');
  return key === null ? null : exposedSecret(key, statSync(key), process.getuid?.());
}

/** What is usable and should not stay as it is. */
export function databaseWarnings(url: string): string[] {
  const warnings: string[] = [];
  const client = newClient(url);
  const exposed = exposedKey(withTls(url));
  if (exposed !== null) warnings.push(`${exposed.problem}. ${exposed.hint}`);
  if (isPlainText(client))
    warnings.push(
      `The connection to PostgreSQL on ${client.host} is not encrypted: what it stores, and perhaps its password, cross the network as plain text. Add sslmode=verify-full to the URL.`,
    );
  return warnings;
}

/** Closes without waiting for running statements. */
export function destroy(client: Client): void {
  // Ignores further errors.
  client.on('error', () => {});
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  client.end().catch(() => {});
}

interface Terms {
  in_recovery: boolean;
  isolation: string;
  timeout: string;
  version: number;
}

/** Throws if writes would not be as durable as the store requires. */
export async function checkTerms(client: Client): Promise<void> {
  const { rows } = await client.query<Terms>(
    `SELECT pg_is_in_recovery() AS in_recovery, current_setting('default_transaction_isolation') AS isolation,
       current_setting('statement_timeout') AS timeout, current_setting('server_version_num')::int AS version`,
  );
  const [terms] = rows as [Terms];
  if (terms.version < oldestVersion) {
    throw new DataError('the database is older than PostgreSQL 14', { hint: 'Use PostgreSQL 14 or newer.' });
  }
  if (terms.in_recovery) throw new StandbyError();
  if (terms.isolation !== 'read committed') {
    throw new DataError(`default_transaction_isolation of the role is '${terms.isolation}'`, {
      hint: "Set it to 'read committed' with ALTER ROLE.",
    });
  }
  if (terms.timeout === '0') {
    throw new DataError('statement_timeout of the role is off', {
      hint: "The service sets it when it starts: `urtuu serve`; or: ALTER ROLE ... SET statement_timeout = '5s'; then restart the pooler where there is one.",
    });
  }
}

/** Connected to a standby, which accepts no writes. */
class StandbyError extends Error {
  override readonly name = 'StandbyError';
  readonly code = 'standby';
  constructor() {
    super('the database is a standby');
  }
}
