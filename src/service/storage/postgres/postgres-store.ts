import { keyTopic, messageTopic, type Topic } from '../changes.js';
import type { Finalized, FinalizedDoubt } from '../dispatching.js';
import type { PseudonymOf } from '../shared/secret.js';
import { createBinds } from '../sql/binds.js';
import { createInbox } from '../sql/inbox.js';
import { createInsights } from '../sql/insights.js';
import { createKeys } from '../sql/keys.js';
import { createLanes } from '../sql/lanes.js';
import { createMessages } from '../sql/messages.js';
import { createProjects } from '../sql/projects.js';
import { createPruning } from '../sql/pruning.js';
import { createSignIns } from '../sql/sign-ins.js';
import type { Sql } from '../sql/sql.js';
import { createSuppressions } from '../sql/suppressions.js';
import { createVerifications } from '../sql/verifications.js';
import type { Store } from '../store.js';
import { createAcceptance } from './accept/acceptance.js';
import type { Database } from './database/database.js';
import { orUnavailable } from './database/failure.js';
import { createClaimedRows } from './dispatch/claimed-rows.js';
import { createClaims } from './dispatch/claims.js';
import { createFinalization } from './dispatch/finalization.js';
import { createHolding } from './dispatch/holding.js';
import { createStopBatch } from './dispatch/stop-batch.js';
import { createWork } from './dispatch/work.js';
import { createPruneMessages } from './erase/prune-messages.js';
import type { Lost } from './lost-commits.js';
import { createLists } from './read/lists.js';
import { createRepeats } from './repeats.js';

/** Notifies this process and the others of what was committed here. */
export type Tell = (topics: readonly Topic[]) => void;

export function postgresStore(
  database: Database,
  sql: Sql,
  lost: Lost,
  tell: Tell,
  pseudonymOf: PseudonymOf,
  report: (error: unknown) => void,
): Store {
  const acceptance = createAcceptance(database, lost, pseudonymOf);
  const toClaimed = createClaimedRows(database, pseudonymOf);
  const claims = createClaims(database, lost, toClaimed);
  const finalization = createFinalization(database, toClaimed);
  const stopBatch = createStopBatch(database);
  const holding = createHolding(database, toClaimed);
  const attempted = <Result>(work: Promise<Result>) => orUnavailable(work, report);

  async function accept<Result extends { kind: string; claimed?: readonly unknown[] }>(
    work: Promise<Result>,
  ): Promise<Result> {
    const result = await attempted(work);
    if (result.claimed?.length === 0) tell(['due']);
    return result;
  }

  async function thenDue<Result>(work: Promise<Result>): Promise<Result> {
    const result = await work;
    tell(['due']);
    return result;
  }

  function tellFinalized(finalized: readonly (Finalized & { pendingKey: string | null })[]): void {
    const topics = finalized.flatMap(({ message: { id, batchId, projectId }, pendingKey }) => [
      ...(batchId === null ? [messageTopic(id)] : []),
      ...(pendingKey === null ? [] : [keyTopic(projectId, pendingKey)]),
    ]);
    if (topics.length > 0) tell(topics);
  }

  return {
    ...createBinds(sql),
    ...createInbox(sql),
    ...createInsights(sql),
    ...createKeys(sql),
    ...createLanes(sql, () => tell(['due'])),
    ...createSuppressions(sql, pseudonymOf),
    ...createVerifications(sql, ({ id, began_at }, at) =>
      sql.write('UPDATE :s.verifications SET counts_at = :at WHERE id = :id AND counts_at = :began_at', {
        ...{ id, began_at, at },
      }),
    ),
    ...createMessages(sql, createLists(database)),
    ...createProjects(sql),
    ...createSignIns(sql),
    ...createPruning(sql, pseudonymOf),
    pruneMessages: createPruneMessages(database, pseudonymOf),
    ...createRepeats(database),
    ...createWork(database),
    ...holding,
    release: () => thenDue(holding.release()),

    acceptMessage: (message) => accept(acceptance.acceptMessage(message)),
    acceptBatch: (batch) => accept(acceptance.acceptBatch(batch)),
    acceptVerification: (verification) => accept(acceptance.acceptVerification(verification)),

    stopBatch: (id, error) => thenDue(stopBatch(id, error)),
    claimMessages: claims.claimMessages,
    claimDoubts: claims.claimDoubts,
    renewLeases: claims.renewLeases,
    endLeases: () => thenDue(claims.endLeases()),
    markSubmitting: (marks) => attempted(claims.markSubmitting(marks)),
    postponeMessages: (postponements) => thenDue(claims.postponeMessages(postponements)),
    leaveInDoubt: (doubts) => thenDue(claims.leaveInDoubt(doubts)),
    async finalizeMessages(finalizations, answer) {
      const finalized = await attempted(finalization.finalizeMessages(finalizations, answer));
      tellFinalized(
        finalized.flatMap((one, index) =>
          one === null ? [] : { ...one, pendingKey: finalizations[index]?.claimed.pendingKey ?? null },
        ),
      );
      return finalized;
    },
    async recordReceipts(receipts, answer) {
      const finalized: FinalizedDoubt[] = [];
      for (const receipt of receipts) {
        const ended = await attempted(finalization.recordReceipt(receipt, answer));
        tellFinalized(ended);
        finalized.push(...ended);
      }
      return finalized;
    },

    async endReset(owner) {
      await database.query('DELETE FROM :s.resets WHERE owner = $1', [owner]);
      tell(['reset']);
    },
  };
}
