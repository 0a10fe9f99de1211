import type { Topic } from '../changes.js';
import type { FinalizedDoubt } from '../dispatching.js';
import type { PseudonymOf } from '../shared/secret.js';
import type { Sql } from '../sql/sql.js';
import { createStore, type OwnParts } from '../sql/store.js';
import type { CorrectLife } from '../sql/verifications.js';
import type { Store } from '../store.js';
import { createAcceptance } from './accept/acceptance.js';
import type { Database } from './database/database.js';
import { orUnavailable } from './database/failure.js';
import { createClaimedRows } from './dispatch/claimed-rows.js';
import { createClaims } from './dispatch/claims.js';
import { createFinalization } from './dispatch/finalization.js';
import { createHolding } from './dispatch/holding.js';
import { Quiet } from './dispatch/quiet.js';
import { createStopBatch } from './dispatch/stop-batch.js';
import { createWork } from './dispatch/work.js';
import { createPruneMessages } from './erase/prune-messages.js';
import type { Lost } from './lost-commits.js';
import { createRepeats } from './repeats.js';

/** Notifies this process and the others of what was committed here. */
export type Tell = (topics: readonly Topic[]) => void;

export function postgresStore(
  database: Database,
  sql: Sql,
  lost: Lost,
  tell: Tell,
  pseudonymOf: PseudonymOf,
  now: () => number,
  report: (error: unknown) => void,
): Store {
  const quiet = new Quiet(database, now);
  const acceptance = createAcceptance(database, lost, pseudonymOf);
  const toClaimed = createClaimedRows(database, pseudonymOf);
  const claims = createClaims(database, lost, toClaimed, pseudonymOf, quiet);
  const finalization = createFinalization(database, toClaimed);
  const holding = createHolding(database, toClaimed);
  const attempted = <Result>(work: Promise<Result>) => orUnavailable(work, report);

  const own: OwnParts = {
    ...createRepeats(database, { pseudonymOf, quiet }),
    ...createWork(database, quiet),
    ...holding,
    pruneMessages: createPruneMessages(database, pseudonymOf),
    stopBatch: createStopBatch(database),

    acceptMessage: (message) => attempted(acceptance.acceptMessage(message)),
    acceptBatch: (batch) => attempted(acceptance.acceptBatch(batch)),
    acceptVerification: (verification) => attempted(acceptance.acceptVerification(verification)),

    ...claims,
    markSubmitting: (marks) => attempted(claims.markSubmitting(marks)),
    finalizeMessages: (finalizations, answer) =>
      attempted(finalization.finalizeMessages(finalizations, answer)),
    async recordReceipts(receipts, answer) {
      const finalized: FinalizedDoubt[] = [];
      for (const receipt of receipts)
        finalized.push(...(await attempted(finalization.recordReceipt(receipt, answer))));
      return finalized;
    },
    async endReset(owner) {
      await database.query('DELETE FROM :s.resets WHERE owner = $1', [owner]);
    },
  };

  const correctLife: CorrectLife = ({ id, began_at }, at) =>
    sql.write('UPDATE :s.verifications SET counts_at = :at WHERE id = :id AND counts_at = :began_at', {
      ...{ id, began_at, at },
    });
  return createStore({ sql, correctLife, pseudonymOf }, own, tell);
}
