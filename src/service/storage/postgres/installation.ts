import { DataError } from '../../data-error.js';
import type { Random } from '../../random.js';
import { fingerprintOf, isSecretOf } from '../secret.js';
import type { Database } from './database/database.js';

/** Binds a new database to the secret; one that is bound to another is refused. */
export async function enter(database: Database, secret: Uint8Array, random: Random): Promise<void> {
  const id = Buffer.from(random.bytes(16)).toString('hex');
  await database.attempt(
    'INSERT INTO installation (one, id, secret_fingerprint) VALUES (1, $1, $2) ON CONFLICT DO NOTHING',
    [id, fingerprintOf(secret)],
  );
  await database.attempt('SELECT open_hold_1()', []);
  const [row] = await database.attempt<{ secret_fingerprint: Buffer }>(
    'SELECT secret_fingerprint FROM installation',
    [],
  );
  if (row === undefined || !isSecretOf(row.secret_fingerprint, secret)) {
    throw new DataError('the database belongs to another secret', {
      hint: 'Give the secret that it was first started with in URTUU_SECRET_FILE.',
    });
  }
}
