import { keyTopic, messageTopic, type Topic } from '../changes.js';
import type { AnswerOf, Finalized, Receipt } from '../dispatching.js';
import type { PseudonymOf } from '../shared/secret.js';
import { sharedReads } from '../shared/shared-reads.js';
import type { Store } from '../store.js';
import { createBinds, createDays } from './binds.js';
import { createEvents } from './events.js';
import { createInbox } from './inbox.js';
import { createInsights } from './insights.js';
import { createKeys } from './keys.js';
import { createLanes } from './lanes.js';
import { createMessages } from './messages.js';
import { createProjects } from './projects.js';
import { createPruning } from './pruning.js';
import { createReceipts, recordCodes } from './receipts.js';
import { createSignIns } from './sign-ins.js';
import type { Sql } from './sql.js';
import { createSuppressions } from './suppressions.js';
import { type CorrectLife, createVerifications } from './verifications.js';
import { createWaiting } from './waiting.js';

interface Engine {
  sql: Sql;
  correctLife: CorrectLife;
  pseudonymOf: PseudonymOf;
}

function createParts({ sql, correctLife, pseudonymOf }: Engine) {
  return {
    ...createBinds(sql),
    ...createDays(sql),
    ...createEvents(sql),
    ...createInbox(sql),
    ...createInsights(sql),
    ...createKeys(sql),
    ...createLanes(sql),
    ...createMessages(sql),
    ...createProjects(sql),
    ...createPruning(sql, pseudonymOf),
    ...createReceipts(sql),
    ...createSignIns(sql),
    ...createSuppressions(sql, pseudonymOf),
    ...createVerifications(sql, correctLife),
    ...createWaiting(sql),
  };
}

/** What each engine does in its own way: the path of a message, holds and resets. */
export type OwnParts = Omit<Store, keyof ReturnType<typeof createParts>>;

/** The store of an engine. `tell`: notifies this process and the others of what was committed here. */
export function createStore(engine: Engine, own: OwnParts, tell: (topics: readonly Topic[]) => void): Store {
  const parts = createParts(engine);

  const telling =
    <Given extends unknown[], Result>(
      call: (...given: Given) => Promise<Result>,
      topicsOf: (result: Result, ...given: Given) => readonly Topic[] = () => ['due'],
    ) =>
    async (...given: Given): Promise<Result> => {
      const result = await call(...given);
      const topics = topicsOf(result, ...given);
      if (topics.length > 0) tell(topics);
      return result;
    };

  /** What is not claimed at once is due. */
  const waiting = (result: { kind: string; claimed?: readonly unknown[] }): readonly Topic[] =>
    result.claimed?.length === 0 ? ['due'] : [];

  /** Before it resolves, and a carrier sends no receipt of it again. */
  async function recordReceipts(receipts: readonly Receipt[], answer: AnswerOf) {
    const finalized = await own.recordReceipts(receipts, answer);
    await recordCodes(engine.sql, receipts);
    return finalized;
  }

  return {
    ...parts,
    ...own,
    getProject: sharedReads(parts.getProject),
    acceptMessage: telling(own.acceptMessage, waiting),
    acceptBatch: telling(own.acceptBatch, waiting),
    acceptVerification: telling(own.acceptVerification, waiting),
    endLeases: telling(own.endLeases),
    postponeMessages: telling(own.postponeMessages),
    leaveInDoubt: telling(own.leaveInDoubt),
    stopBatch: telling(own.stopBatch),
    release: telling(own.release),
    pauseLane: telling(parts.pauseLane),
    resumeLane: telling(parts.resumeLane),
    endReset: telling(own.endReset, () => ['reset']),
    finalizeMessages: telling(own.finalizeMessages, (finalized, given) =>
      finalized.flatMap((one, index) =>
        one === null ? [] : topicsOf(one, given[index]?.claimed.pendingKey ?? null),
      ),
    ),
    recordReceipts: telling(recordReceipts, (finalized) =>
      finalized.flatMap((one) => topicsOf(one, one.pendingKey)),
    ),
  };
}

/** Of a finalized message, and of the key to which its answer was bound. */
const topicsOf = ({ message }: Finalized, pendingKey: string | null): Topic[] => [
  ...(message.batchId === null ? [messageTopic(message.id)] : []),
  ...(pendingKey === null ? [] : [keyTopic(message.projectId, pendingKey)]),
];
