import { ok } from 'node:assert/strict';
import { type Carrier, OutcomeUnknown, type Submission } from '../../../src/service/carriers/carrier.js';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import type { Store } from '../../../src/service/storage/store.js';
import { Cores, caller, pass } from '../../support/cores.js';
import { Crash } from '../../support/crash.js';
import { countUnderWay } from '../../support/postgres/under-way.js';
import { seededRandom } from '../../support/random.js';
import { type Engine, withEngine } from '../engines.js';
import { dataAt } from '../service/data.js';

/** A store as it ships, and one whose process holds back what is quiet by its own clock. */
export type StoreKind = 'shipped' | 'goes_by_its_own_clock';

const hour = 3_600_000;
const roomy = { caps: { per_10_minutes: 20, per_24_hours: 80 } };

/** From 21:00 to 08:00 in Ulaanbaatar, by a rule of its own. */
function isNight(at: number): boolean {
  const hourOfDay = (at / hour + 8) % 24;
  return hourOfDay >= 21 || hourOfDay < 8;
}

export async function playQuiet(options: {
  seed: number;
  days: number;
  engine: Engine;
  store: StoreKind;
}): Promise<{ submitted: number; wrong: number; left: number }> {
  const random = seededRandom(options.seed);
  const game = new Game(options.store, random);
  await withEngine(options.engine, async (newData) => {
    const data = dataAt(await newData());
    // Before any connection is made: time may only pass while the database is asked nothing.
    const stopCounting = options.engine === 'PostgreSQL' ? countUnderWay() : () => {};
    try {
      await game.open(data);
      for (let step = 0; step < options.days * 12; step += 1) {
        await game.send();
        await game.goOn();
        if (random() < 0.1) await game.die(data);
      }
      await game.end();
    } finally {
      stopCounting();
    }
  });
  ok(game.submitted > options.days, 'next to nothing was submitted');
  return game;
}

class Game {
  submitted = 0;
  wrong = 0;
  /** Messages without an outcome in the end. */
  left = 0;
  #isCalm = false;
  readonly #kind: StoreKind;
  readonly #random: () => number;
  readonly #clock = new ManualClock(Date.UTC(2026, 5, 1, 2));
  readonly #cores = new Cores();
  #core: Core | undefined;
  #crash = new Crash();
  /** By which the clock of the process is wrong. */
  #off = 0;
  #recipients = 0;

  constructor(kind: StoreKind, random: () => number) {
    this.#kind = kind;
    this.#random = random;
  }

  async open(data: object): Promise<void> {
    this.#crash = new Crash();
    const { doubles } = this.#crash;
    this.#core = await this.#cores.openMortal(
      { ...data, clock: this.#clock, rates: 'off', settings: roomy },
      {
        store: (store) => this.#heldBy(doubles.store?.(store) ?? store),
        carrier: (carrier) => {
          const mortal = doubles.carrier?.(carrier) ?? carrier;
          return { ...mortal, submit: (given, signal) => this.#submit(mortal, given, signal) };
        },
      },
    );
    await this.#core.administration.credit(1_000_000);
    if (this.#kind === 'shipped')
      await this.#core.administration.settings.update({ quiet_hours: '21:00-08:00' });
  }

  async die(data: object): Promise<void> {
    const core = this.#running();
    this.#crash.now();
    await this.#crash.bury(core);
    await this.open(data);
  }

  /** Two days in which the carrier takes everything. */
  async end(): Promise<void> {
    this.#isCalm = true;
    await pass(this.#clock, 48 * hour, 10 * 60_000);
    const { store } = this.#running();
    this.left = (await store.countUnfinished()).messages;
    await this.#running().close();
    await this.#cores.closeAll();
  }

  async send(): Promise<void> {
    const { operations } = this.#running();
    const call = { caller, idempotencyKey: null, isBulk: true };
    const numbers = [1, 2, 3].map(() => `${88_000_000 + this.#recipients++}`);
    const mail = { to: `a${this.#recipients++}@b.mn`, subject: 'list', text: 'Hi' };
    const sends: Promise<unknown>[] = [
      operations.sendSmsBulk({ ...call, params: { to: numbers, text: 'Hi' } }),
      operations.sendEmail({ ...call, params: mail }),
      operations.sendSms({ ...call, params: { to: `${88_000_000 + this.#recipients++}`, text: 'Hi' } }),
    ];
    const ended = Promise.allSettled(sends);
    await Promise.race([ended, pass(this.#clock, 20_000, 1_000)]);
  }

  /** About two hours pass, and now and then the clock is stepped by some. */
  async goOn(): Promise<void> {
    const random = this.#random;
    await pass(this.#clock, random() * 4 * hour, 10 * 60_000);
    if (random() < 0.2) this.#clock.set(this.#clock.now() + (random() - 0.5) * 12 * hour);
    if (random() < 0.2) this.#off = (random() - 0.5) * 24 * hour;
  }

  #running(): Core {
    ok(this.#core !== undefined);
    return this.#core;
  }

  /** Every message of the game is one of a list. */
  async #submit(carrier: Carrier, given: Submission, signal: AbortSignal) {
    this.submitted += 1;
    if (isNight(this.#clock.now())) this.wrong += 1;
    const chance = this.#isCalm ? 1 : this.#random();
    if (chance < 0.1) throw new OutcomeUnknown('lost');
    if (chance < 0.3) return { kind: 'later', reason: 'busy', code: 'busy', scope: 'message' } as const;
    return carrier.submit(given, signal);
  }

  #heldBy(store: Store): Store {
    if (this.#kind === 'shipped') return store;
    return {
      ...store,
      acceptBatch: (given) => store.acceptBatch({ ...given, claim: null }),
      acceptMessage: (given) => store.acceptMessage({ ...given, claim: null }),
      claimMessages: async (claim) =>
        isNight(this.#clock.now() + this.#off) ? [] : store.claimMessages(claim),
    };
  }
}
