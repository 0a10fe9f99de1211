import { normalizeAddress } from '../../contract/index.js';
import type { SimulatedCarrier } from '../carriers/simulated/simulated.js';
import type { OperationContext } from '../operations/context.js';
import { invalid } from '../operations/fields.js';
import type { Administration } from '../service.js';
import { type StoredAnswer, withoutRecipient } from '../storage/pruning.js';

/** Milliseconds; the caps count recipients for half of it. */
const youngest = 2 * 86_400_000;

/** Of messages that were accepted whenever, by whatever clock. */
const anyAge = -100 * 365 * 86_400_000;

/** Erasing what is old, in small transactions beside instances that run; what is interrupted is done by the next call. */
export function createPrune(
  { store }: Pick<OperationContext, 'store'>,
  carrier: Pick<SimulatedCarrier, 'forget'>,
): Pick<Administration, 'prune'> {
  async function pruneMessages(olderMs: number, to: string | null): Promise<number> {
    let count = 0;
    for await (const messages of portions(olderMs, to)) {
      // In this order: what is pruned is not found again.
      await carrier.forget(messages.map(({ id }) => id));
      await store.pruneMessages(messages.map(({ seq }) => seq));
      count += messages.length;
    }
    return count;
  }

  async function* portions(olderMs: number, to: string | null) {
    let after: number | null = 0;
    while (after !== null) {
      const portion: Awaited<ReturnType<typeof store.listPrunable>> = await store.listPrunable({
        ...{ olderMs, to, after },
      });
      if (portion.messages.length > 0) yield portion.messages;
      after = portion.next;
    }
  }

  async function pruneAnswers(): Promise<number> {
    let count = 0;
    let after: Parameters<typeof store.listPrunedAnswers>[0] = null;
    do {
      const portion: Awaited<ReturnType<typeof store.listPrunedAnswers>> =
        await store.listPrunedAnswers(after);
      const pruned = portion.answers.flatMap((answer): StoredAnswer[] => {
        const body = withoutRecipient(answer.body);
        return body === null ? [] : [{ ...answer, body }];
      });
      if (pruned.length > 0) await store.replaceAnswers(pruned);
      count += pruned.length;
      after = portion.next;
    } while (after !== null);
    return count;
  }

  return {
    async prune({ olderMs, to: given }) {
      if (!(olderMs >= youngest))
        throw invalid('older than: must be 2 days or more, so that caps stay exact');
      const to = given === undefined ? null : (normalizeAddress(given) ?? given);
      const messages = await pruneMessages(olderMs, to);
      const answers = await pruneAnswers();
      let kept = 0;
      if (to !== null) for await (const newer of portions(anyAge, to)) kept += newer.length;
      return { messages, answers, kept };
    },
  };
}
