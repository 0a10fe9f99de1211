import { ok } from 'node:assert/strict';
import { type SuppressionReason, suppressionReasons } from '../../../src/contract/index.js';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import type { MessageAcceptance, Store } from '../../../src/service/storage/store.js';
import { Cores, caller, outboxOf, ticks } from '../../support/cores.js';
import { seededRandom } from '../../support/random.js';
import { type Engine, withEngine } from '../engines.js';
import { dataAt } from '../service/data.js';
import { type StoreKind, storeOf } from './stores.js';

export interface SuppressedResult {
  games: number;
  /** Messages that went out, and sends that were refused for a suppression. */
  delivered: number;
  kept: number;
  /** Messages that went out although their recipient was suppressed. */
  wrong: number;
}

/** Games that share a service. */
const atOnce = 100;

/** Recipients opt out, are imported, bounce and come back while everything is sent to them. */
export async function playSuppressed(options: {
  seed: number;
  games: number;
  engine: Engine;
  store: StoreKind;
}): Promise<SuppressedResult> {
  const random = seededRandom(options.seed);
  const total: SuppressedResult = { games: 0, delivered: 0, kept: 0, wrong: 0 };
  await withEngine(options.engine, async (newData) => {
    for (let left = options.games; left > 0; left -= atOnce) {
      const games = Math.min(left, atOnce);
      const data = options.engine === 'PostgreSQL' ? dataAt(await newData()) : {};
      const { delivered, kept, wrong } = await playAll(games, random, options.store, data);
      total.games += games;
      total.delivered += delivered;
      total.kept += kept;
      total.wrong += wrong;
    }
  });
  ok(total.delivered > 0 && total.kept > 0, 'nothing was sent, or nothing kept back');
  return total;
}

async function playAll(games: number, random: () => number, kind: StoreKind, data: object) {
  const cores = new Cores();
  const known = new Known();
  const judge = new Judge(known);
  try {
    const core = await cores.open(
      { ...data, rates: 'off', clock: new ManualClock(Date.UTC(2026, 5, 1)) },
      { store: (real) => storeOf(kind, judge.watch(real)) },
    );
    await core.administration.credit(1_000_000);
    let kept = 0;
    for (let game = 0; game < games; game += 1) kept += await playOne(core, game, random, known);
    await core.administration.idle();
    const delivered = (await outboxOf(core)).map(({ message_id: id }) => id);
    return {
      delivered: delivered.length,
      kept,
      wrong: delivered.filter((id) => !judge.permitted.has(id)).length,
    };
  } finally {
    await cores.closeAll();
  }
}

/** Some steps on a number and an address, each begun before those before it have ended; how many sends were refused. */
async function playOne(core: Core, game: number, random: () => number, known: Known): Promise<number> {
  const below = (count: number) => Math.floor(random() * count);
  const number = `${88_000_000 + game}`;
  const address = `a${game}@b.mn`;
  const others = [`${89_000_000 + game}`, `c${game}@b.mn`] as const;
  // Of several reasons the first would count.
  const reasonOf = new Map(
    [number, address].map((to) => [to, suppressionReasons[below(3)] as SuppressionReason]),
  );
  const call = { caller, idempotencyKey: null };
  const mail = { subject: 'Hi', text: 'Hi' };
  const { operations, store, administration } = core;
  const begun: Promise<unknown>[] = [];
  let refused = 0;
  for (let step = 0; step < 14; step += 1) {
    const to = below(2) === 0 ? number : address;
    const reason = reasonOf.get(to) as SuppressionReason;
    const steps: (() => Promise<unknown>)[] = [
      () => known.during(to, reason, store.suppress(caller.projectId, to, reason)),
      () => known.during(to, reason, administration.suppressions.add([to], reason)),
      () => known.without(to, () => administration.suppressions.remove(to)),
      () => operations.sendSms({ ...call, params: { to: number, text: 'Hi' } }),
      () => operations.sendSmsBulk({ ...call, params: { to: [others[0], number], text: 'Hi' } }),
      () => operations.sendEmail({ ...call, params: { to: address, ...mail }, isBulk: below(2) === 0 }),
      () => operations.sendEmailBulk({ ...call, params: { to: [address, others[1]], ...mail } }),
      () => operations.createVerification(caller, { to }),
    ];
    begun.push(
      (steps[below(steps.length)] as () => Promise<unknown>)().catch((error) => {
        if (error.code === 'recipient_suppressed') refused += 1;
      }),
    );
    await ticks(below(3));
  }
  await Promise.all(begun);
  return refused;
}

/** Whom the callers of this process know to be suppressed. */
class Known {
  readonly #reasons = new Map<string, SuppressionReason>();
  /** Removals of a recipient so far, and those under way. */
  readonly #removals = new Map<string, { begun: number; ended: number }>();

  /** At the beginning of a call: whether its end shows that it may send, since a removal may come between. */
  ask(to: string, obeysOptOuts: boolean): () => boolean {
    const reason = this.#reasons.get(to);
    const removals = this.#removalsOf(to);
    const { begun } = removals;
    return () => reason === undefined || (reason === 'opt_out' && !obeysOptOuts) || removals.begun > begun;
  }

  /** Suppressed from the end of the call on, unless it is removed meanwhile. */
  async during(to: string, reason: SuppressionReason, call: Promise<unknown>): Promise<void> {
    const before = this.#removalsOf(to);
    const { begun, ended } = before;
    await call;
    if (begun === ended && before.begun === begun) this.#reasons.set(to, reason);
  }

  async without(to: string, call: () => Promise<unknown>): Promise<void> {
    const removals = this.#removalsOf(to);
    removals.begun += 1;
    this.#reasons.delete(to);
    await call();
    removals.ended += 1;
  }

  #removalsOf(to: string) {
    const removals = this.#removals.get(to) ?? { begun: 0, ended: 0 };
    this.#removals.set(to, removals);
    return removals;
  }
}

/** Permits what a store accepts or marks in a call, unless its recipient is known to be suppressed all the while. */
class Judge {
  readonly permitted = new Set<string>();
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  watch(store: Store): Store {
    const singles = async <Result extends { kind: string; claimed?: readonly unknown[] }>(
      { recipient: { id, to }, content, channel }: MessageAcceptance,
      accept: () => Promise<Result>,
    ): Promise<Result> => {
      const obeys = content.encrypted === null && (channel === 'sms' || content.isBulk === true);
      const may = this.#known.ask(to, obeys);
      const result = await accept();
      // A queued email is asked about again.
      if (may() && (channel === 'sms' || result.claimed?.length === 1)) this.permitted.add(id);
      return result;
    };
    return {
      ...store,
      acceptMessage: (given) => singles(given, () => store.acceptMessage(given)),
      acceptVerification: (given) => singles(given, () => store.acceptVerification(given)),
      acceptBatch: async (given) => {
        const mays = given.recipients.map(({ to }) => this.#known.ask(to, true));
        const result = await store.acceptBatch(given);
        if (result.kind === 'accepted' && result.claimed.length > 0)
          for (const [index, { id }] of given.recipients.entries())
            if (mays[index]?.()) this.permitted.add(id);
        return result;
      },
      markSubmitting: async (marks) => {
        const mays = marks.map(({ claimed: { message, content } }) => {
          const isMany = message.batchId !== null || content.isBulk === true;
          return this.#known.ask(message.to, content.encrypted === null && isMany);
        });
        const marked = await store.markSubmitting(marks);
        for (const [index, { claimed }] of marks.entries()) {
          if (marked[index] === true && mays[index]?.()) this.permitted.add(claimed.message.id);
        }
        return marked;
      },
    };
  }
}
