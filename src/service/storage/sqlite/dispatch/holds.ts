import type { HoldReason } from '../../records.js';
import type { Database } from '../database/database.js';

/** True while the store is held. */
export const isHeld = 'EXISTS (SELECT 1 FROM hold)';

/** What is not known here may have been reported under the numbers that come next. */
export function endEventLines(database: Database): void {
  database.exec('UPDATE projects SET line = NULL WHERE line IS NOT NULL');
}

/** The hold. The functions run inside their caller's transaction. */
export function prepareHolds(database: Database) {
  const insert = database.prepare('INSERT INTO hold (one, reason) VALUES (1, ?) ON CONFLICT DO NOTHING');
  const select = database.prepare('SELECT reason FROM hold');
  const remove = database.prepare('DELETE FROM hold');

  return {
    /** Also for a file that is being restored, before it is opened as a store. */
    begin(reason: HoldReason): void {
      insert.run(reason);
    },
    reason: (): HoldReason | null => (select.get() as { reason: HoldReason } | undefined)?.reason ?? null,
    end(): void {
      remove.run();
      endEventLines(database);
    },
  };
}

export type Holds = ReturnType<typeof prepareHolds>;
