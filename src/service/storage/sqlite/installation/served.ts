import type { Clock } from '../../../clock.js';
import { DataError } from '../../../errors/data-error.js';
import { isFresh } from '../../sql/instances.js';
import type { Database } from '../database/database.js';
import { versionOf } from '../database/open.js';
import { migrations } from '../schema/schema.js';

/** Throws DataError if a service of an older version runs: it could not go on once the schema has changed. */
export function refuseServed(store: Database, clock: Clock): void {
  if (versionOf(store) >= migrations.length || !hasInstances(store)) return;
  const isServed =
    store.prepare(`SELECT 1 FROM instances WHERE ${isFresh}`).get({ now: clock.now() }) !== undefined;
  if (!isServed) return;
  throw new DataError('the data is in use by a service of an older version of urtuu', {
    hint: 'Nothing was changed. Restart that service with this version, or run its version of this command.',
  });
}

const hasInstances = (store: Database) =>
  store.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'instances'").get() !== undefined;
