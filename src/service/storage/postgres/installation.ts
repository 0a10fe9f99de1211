import { DataError, NoDataError } from '../../errors/data-error.js';
import type { Random } from '../../random.js';
import { fingerprintOf, isSecretOf } from '../shared/secret.js';
import type { Database } from './database/database.js';

/** Binds a new database to the secret. */
export async function bind(database: Database, secret: Uint8Array, random: Random): Promise<void> {
  const id = Buffer.from(random.bytes(16)).toString('hex');
  await database.attempt(
    'INSERT INTO installation (one, id, secret_fingerprint) VALUES (1, $1, $2) ON CONFLICT DO NOTHING',
    [id, fingerprintOf(secret)],
  );
  await database.attempt('SELECT open_hold_1()', []);
}

/** Refuses a database that is bound to another secret, or to none yet. */
export async function checkSecret(database: Database, secret: Uint8Array): Promise<void> {
  const [row] = await database.attempt<{ secret_fingerprint: Buffer }>(
    'SELECT secret_fingerprint FROM installation',
    [],
  );
  if (row === undefined) throw new NoDataError('there is no service in the database');
  if (!isSecretOf(row.secret_fingerprint, secret)) {
    throw new DataError('the database belongs to another secret', {
      hint: 'Give the secret that it was first started with in URTUU_SECRET_FILE.',
    });
  }
}
