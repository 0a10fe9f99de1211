import type { Pruning } from '../../pruning.js';
import { countedAs } from '../../shared/recipients.js';
import type { PseudonymOf } from '../../shared/secret.js';
import type { Database } from '../database/database.js';

export function createPruneMessages(database: Database, pseudonymOf: PseudonymOf): Pruning['pruneMessages'] {
  return async (messages, erased) => {
    await database.query('SELECT :s.prune_messages_2($1::bigint, $2::bigint[], $3::text[])', [
      database.now(),
      messages.map(({ seq }) => seq),
      erased === null ? null : countedAs(erased, pseudonymOf),
    ]);
  };
}
