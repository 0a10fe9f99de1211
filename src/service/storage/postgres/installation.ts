import { DataError, NoDataError } from '../../errors/data-error.js';
import type { Random } from '../../random.js';
import { fingerprintOf, isSecretOf } from '../shared/secret.js';
import type { Database } from './database/database.js';

/** Binds a new database to the secret, and refuses others like checkSecret. */
export async function bind(database: Database, secret: Uint8Array, random: Random): Promise<void> {
  const id = Buffer.from(random.bytes(16)).toString('hex');
  await database.attempt(
    `WITH made AS (
       INSERT INTO :s.installation (one, id, secret_fingerprint) VALUES (1, $1, $2) ON CONFLICT (one) DO NOTHING RETURNING one
     ), opened AS MATERIALIZED (SELECT :s.open_hold_1() FROM made WHERE NOT EXISTS (SELECT 1 FROM :s.ledger))
     SELECT * FROM opened`,
    [id, fingerprintOf(secret)],
  );
  await checkSecret(database, secret);
  // Its dump is still being loaded, or came without the hold.
  await database.attempt(
    "SELECT :s.begin_hold_1('restored'::text) WHERE NOT EXISTS (SELECT 1 FROM :s.hold)",
    [],
  );
}

/** Refuses a database bound to another secret or none, and one that a move is filling. */
export async function checkSecret(database: Database, secret: Uint8Array): Promise<void> {
  const [row] = await database.attempt<{ id: string; secret_fingerprint: Buffer; filling: string | null }>(
    'SELECT id, secret_fingerprint, filling FROM :s.installation',
    [],
  );
  if (row === undefined) throw new NoDataError('there is no service in the database');
  if (row.filling !== null) {
    throw new DataError(`the database is being filled from installation ${row.id}`, {
      hint: 'Start urtuu on the folder of that installation: it prints the command that continues the move or gives it up.',
    });
  }
  if (!isSecretOf(row.secret_fingerprint, secret)) {
    throw new DataError('the database belongs to another secret', {
      hint: 'Give the secret that it was first started with in URTUU_SECRET_FILE.',
    });
  }
}
