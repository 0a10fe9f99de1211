import { normalizeAnyAddress, normalNumber } from '../../contract/index.js';
import type { Administration } from '../administration.js';
import type { Outbox } from '../carriers/simulated/outbox.js';
import { largeTurn } from '../event-loop.js';
import type { OperationContext } from '../operations/context.js';
import { invalid } from '../operations/fields.js';
import {
  type AnswerPortion,
  countedFor,
  type PrunableMessage,
  type PrunablePortion,
  type StoredAnswer,
  withoutRecipient,
} from '../storage/pruning.js';

export interface Prune extends Pick<Administration, 'prune'> {
  /** Erases everything older than the retention of its project; nothing of a project without one. */
  pruneOld(
    limits: ReadonlyMap<string, number>,
    signal?: AbortSignal,
  ): Promise<{ messages: number; incoming: number }>;
  /** Erases recipients in the answers about pruned messages. Returns the number of answers. */
  pruneAnswers(signal?: AbortSignal): Promise<number>;
}

/** Erases old data in small transactions, beside running instances; the next call continues an interrupted one. */
export function createPrune(
  { store }: Pick<OperationContext, 'store'>,
  outbox: Pick<Outbox, 'forget'>,
): Prune {
  async function erase(messages: readonly PrunableMessage[], to: string | null): Promise<void> {
    if (messages.length === 0) return;
    // In this order, because pruned messages cannot be found again.
    await outbox.forget(messages.map(({ id }) => id));
    await store.pruneMessages(messages, to);
  }

  async function pruneOld(limits: ReadonlyMap<string, number>, signal?: AbortSignal) {
    const olderMs = Math.min(...limits.values());
    let messages = 0;
    let incoming = 0;
    let after: number | null = limits.size === 0 ? null : 0;
    while (after !== null) {
      const portion: PrunablePortion = await store.listPrunable({ olderMs, after });
      const old = portion.messages.filter(
        ({ projectId, ageMs }) => ageMs > (limits.get(projectId) ?? Number.POSITIVE_INFINITY),
      );
      await erase(old, null);
      messages += old.length;
      after = portion.next;
      await letOthersRun(signal);
    }
    for (const [projectId, limit] of limits)
      incoming += await untilNone(() => store.pruneInbox({ projectId, olderMs: limit }), signal);
    await untilNone(() => store.pruneLeftovers(null), signal);
    await untilNone(() => store.pruneEvents(), signal);
    return { messages, incoming };
  }

  async function everyProject(olderMs: number): Promise<ReadonlyMap<string, number>> {
    return new Map((await store.listProjects()).map(({ id }) => [id, olderMs]));
  }

  async function pruneTo(to: string, olderMs: number | null) {
    const messages = await untilNone(async () => {
      const found = await store.listFinalTo(to, olderMs);
      await erase(found, to);
      return found.length;
    });
    let incoming = 0;
    // An operator may write a foreign number with a plus, two zeros or neither.
    for (const from of /^[0-9]+$/.test(to) ? [to, `+${to}`, `00${to}`] : [to])
      incoming += await untilNone(() => store.pruneInbox({ from, olderMs }));
    const suppressions = await store.eraseSuppressed(to);
    const kept = await store.countMessagesTo(to);
    // Receipts may arrive before the outcome of a submission.
    if (kept === 0) await untilNone(() => store.pruneLeftovers(to));
    return { messages, incoming, suppressions, kept };
  }

  async function pruneAnswers(signal?: AbortSignal): Promise<number> {
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
      await letOthersRun(signal);
    } while (after !== null);
    return count;
  }

  return {
    pruneOld,
    pruneAnswers,
    async prune({ olderMs = null, to: given }) {
      if (given === undefined || olderMs !== null) checkAge(olderMs);
      const to = given === undefined ? null : personIn(given);
      if (given !== undefined && to === null)
        throw invalid(`to: not a phone number or email address: ${given}`);
      const pruned =
        to === null
          ? { ...(await pruneOld(await everyProject(olderMs ?? 0))), suppressions: 0, kept: 0 }
          : await pruneTo(to, olderMs);
      return { ...pruned, answers: await pruneAnswers() };
    },
  };
}

/** Nothing is sent to foreign numbers, but SMS arrive from them. */
function personIn(written: string): string | null {
  const foreign = () => /^(?:\+|00)?([0-9]{6,15})$/.exec(written)?.[1] ?? null;
  return normalizeAnyAddress(written) ?? normalNumber(written) ?? foreign();
}

function checkAge(olderMs: number | null): void {
  if (olderMs === null || !(olderMs >= countedFor))
    throw invalid('older than: must be 2 days or more, so that caps stay exact');
}

/** Returns how many there were. */
async function untilNone(some: () => Promise<number>, signal?: AbortSignal): Promise<number> {
  let count = 0;
  for (;;) {
    const found = await some();
    if (found === 0) return count;
    count += found;
    await letOthersRun(signal);
  }
}

/** Lets requests be answered in between. */
async function letOthersRun(signal?: AbortSignal): Promise<void> {
  await largeTurn();
  signal?.throwIfAborted();
}
