import { normalizeAddress, normalNumber } from '../../contract/index.js';
import type { SimulatedCarrier } from '../carriers/simulated/simulated.js';
import type { OperationContext } from '../operations/context.js';
import { invalid } from '../operations/fields.js';
import type { Administration } from '../service.js';
import {
  type AnswerPortion,
  type PrunablePortion,
  type StoredAnswer,
  withoutRecipient,
} from '../storage/pruning.js';

/** Milliseconds; the caps count recipients for half of it. */
const youngest = 2 * 86_400_000;

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

  async function* portions(olderMs: number | null, to: string | null) {
    let after: number | null = 0;
    while (after !== null) {
      const portion: PrunablePortion = await store.listPrunable({ olderMs, to, after });
      if (portion.messages.length > 0) yield portion.messages;
      after = portion.next;
    }
  }

  async function pruneAnswers(): Promise<number> {
    let count = 0;
    let after: AnswerPortion['next'] = null;
    do {
      const portion: AnswerPortion = await store.listPrunedAnswers(after);
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
      const to = given === undefined ? null : (normalizeAddress(given) ?? normalNumber(given));
      if (given !== undefined && to === null)
        throw invalid(`to: not a phone number or email address: ${given}`);
      const messages = await pruneMessages(olderMs, to);
      const answers = await pruneAnswers();
      let kept = 0;
      if (to !== null) for await (const left of portions(null, to)) kept += left.length;
      return { messages, answers, kept };
    },
  };
}
