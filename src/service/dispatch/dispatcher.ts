import type { Carrier } from '../carriers/carrier.js';
import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import { capsOf, type Settings } from '../settings.js';
import { cappedUntil } from '../storage/caps.js';
import type {
  BoundAnswer,
  ClaimedMessage,
  Lease,
  MessageRecord,
  Outcome,
  Settled,
  Store,
} from '../storage/store.js';
import { delayAfter, outcomeOf } from './attempts.js';
import { SettlementDesk } from './finalizer.js';
import { HeldLeases, leaseTime } from './held-leases.js';
import { type HandOver, handOver } from './submit.js';

export interface DeliveryParts {
  store: Store;
  carrier: Carrier;
  clock: Clock;
  /** Unique to this service object. */
  owner: string;
  /** How a single send is answered once its message is settled. */
  answer(message: MessageRecord, balance: number): BoundAnswer;
  settingsOf(projectId: string): Promise<Settings>;
  open(sealed: Uint8Array): string;
  /** Told of every message that was settled here, and the key whose answer was bound with it. */
  onSettled(settled: Settled, boundKey: string | null): void;
  /** Whether other processes may leave messages behind in the store. */
  shared: boolean;
  report: Report;
}

/** Milliseconds. */
const lookEvery = 1_000;
/** Between looks that fail: doubled each time. */
const longestPause = 10_000;
const groupSize = 1_000;
const maxInFlight = 2_000;

/**
 * Takes accepted messages to the carrier: a single SMS for the request that waits for it, everything else,
 * and what a process that died has left behind, in the background.
 */
export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #desk: SettlementDesk;
  /** Ids of what this object is handing over. */
  readonly #inFlight = new Set<string>();
  readonly #leases: HeldLeases;
  /** Messages there is room kept for. */
  #reserved = 0;
  #claims = 0;
  #running = false;
  #stopped = true;
  #again = false;
  /** A claim found no room: whatever ends here next makes some. */
  #waitsForRoom = false;
  #failedLooks = 0;
  #cancelLook: () => void = () => {};
  #idle: (() => void)[] = [];

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#leases = new HeldLeases(parts.store, parts.clock, parts.report);
    this.#desk = new SettlementDesk(parts.store, parts.answer);
  }

  /** A lease that begins now; its token is used for one claim only. */
  newLease(): Lease {
    this.#claims += 1;
    const { clock, owner } = this.#parts;
    const token = `${owner}.${this.#claims.toString(36)}`;
    this.#leases.begin(token);
    return { token, until: clock.now() + leaseTime };
  }

  /** Room for messages that are about to be accepted, to be handed over without being looked for. */
  reserve(messages: number) {
    if (this.#stopped || messages > this.#free()) return null;
    this.#reserved += messages;
    return {
      lease: this.newLease(),
      deliver: (claimed: readonly ClaimedMessage[], settings: Settings): void => {
        this.#reserved -= messages;
        this.#deliverAll(claimed, () => settings);
        if (claimed.length > 0) return;
        this.wake();
        this.#changed();
      },
    };
  }

  get #busy(): boolean {
    return this.#running || this.#inFlight.size > 0 || this.#reserved > 0;
  }

  #free(): number {
    return maxInFlight - this.#inFlight.size - this.#reserved;
  }

  start(): void {
    this.#stopped = false;
    this.wake();
  }

  /** Looks for due messages now; while looks fail, when the next one is due. */
  wake(): void {
    if (this.#failedLooks === 0) this.#lookNow();
  }

  #lookNow(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (!this.#running) void this.#run();
  }

  /** Claims nothing more and waits until what is in flight is settled or given back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelLook();
    while (this.#busy) await this.#nextChange();
    this.#leases.stop();
    this.#again = false;
    this.#waitsForRoom = false;
    this.#failedLooks = 0;
  }

  /** Resolves when no message is leased, or due and not taken up. */
  async settled(): Promise<void> {
    for (let round = 0; ; round += 1) {
      while (this.#busy) await this.#nextChange();
      if (!(await this.#parts.store.hasDue(this.#parts.clock.now()))) return;
      // Another process is at it, or died: its leases end by themselves.
      if (round > 0) await this.#nextChange(50);
      this.#lookNow();
    }
  }

  /**
   * Hands over a message that the caller has leased and waits for the end. Null when that is not known yet:
   * the message stays queued and goes on in the background. An error on the way does not reach the caller, who
   * would take it for a send that never was.
   */
  deliver(claimed: ClaimedMessage, settings: Settings): Promise<Settled | null> {
    return this.#deliver(claimed, () => settings).catch((error) => {
      this.#parts.report(error);
      return null;
    });
  }

  async #deliver(claimed: ClaimedMessage, readSettings: ReadSettings): Promise<Settled | null> {
    this.#hold(claimed);
    try {
      const outcome = outcomeOf(await this.#handOver(claimed, readSettings), claimed.attempts);
      if (outcome !== null) return await this.#settle(claimed, outcome);
      await this.#postpone(claimed);
      return null;
    } catch (error) {
      // Its lease ends by itself, and who claims it then asks first what became of it.
      this.wake();
      throw error;
    } finally {
      this.#release(claimed);
    }
  }

  async #handOver(claimed: ClaimedMessage, readSettings: ReadSettings): Promise<HandOver> {
    const { carrier, clock, open, report } = this.#parts;
    const deadline = () => this.#leases.deadlineOf(claimed.lease);
    const readRules = async () => {
      const settings = await readSettings();
      const refusal = this.#overCap(claimed, settings) ? capError : null;
      return { noLinkOperators: settings.no_link_operators, refusal };
    };
    try {
      return await handOver(claimed, readRules, { carrier, clock, open, deadline, report });
    } catch (error) {
      // It counts as an attempt, so that what can never be read or decided ends and is refunded.
      report(error);
      return { status: 'again' };
    }
  }

  async #settle(claimed: ClaimedMessage, outcome: Outcome): Promise<Settled | null> {
    const settled = await this.#desk.settle({ claimed, outcome, at: this.#parts.clock.now() });
    if (settled !== null) this.#parts.onSettled(settled, claimed.pendingKey);
    return settled;
  }

  async #postpone({ message, lease, attempts }: ClaimedMessage): Promise<void> {
    const at = this.#parts.clock.now() + (this.#stopped ? 0 : delayAfter(attempts));
    await this.#parts.store.postponeMessages([{ messageId: message.id, token: lease.token, at }]);
    this.wake();
  }

  #overCap({ message, earlier }: ClaimedMessage, settings: Settings): boolean {
    return earlier !== null && cappedUntil(earlier, capsOf(settings), message.createdAt) !== null;
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#cancelLook();
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        await this.#claimGroup();
      }
      if (!this.#stopped) await this.#lookLater();
      this.#failedLooks = 0;
    } catch (error) {
      // The store is busy or the disk full: nothing was lost, the next look tries again.
      this.#parts.report(error);
      this.#again = false;
      this.#look(Math.min(lookEvery * 2 ** this.#failedLooks, longestPause));
      this.#failedLooks += 1;
    } finally {
      this.#running = false;
      this.#changed();
      if (this.#again && !this.#stopped) void this.#run();
    }
  }

  async #claimGroup(): Promise<void> {
    const { clock, store } = this.#parts;
    const next = await store.nextDue(clock.now());
    if (next === null || next > clock.now()) return;
    const limit = Math.min(groupSize, this.#free());
    this.#waitsForRoom = limit <= 0;
    if (this.#waitsForRoom) return;
    const claimed = await store.claimMessages({ lease: this.newLease(), now: clock.now(), limit });
    if (claimed.length > 0) this.#again = true;
    const known = new Map<string, Promise<Settings>>();
    this.#deliverAll(claimed, (projectId) => {
      const settings = known.get(projectId) ?? this.#parts.settingsOf(projectId);
      known.set(projectId, settings);
      return settings;
    });
  }

  #deliverAll(
    claimed: readonly ClaimedMessage[],
    settingsOf: (projectId: string) => Settings | Promise<Settings>,
  ): void {
    for (const one of claimed) {
      // Its own lease ran out while it was still at it: whoever holds it then settles it.
      if (this.#inFlight.has(one.message.id)) continue;
      this.#deliver(one, () => settingsOf(one.message.projectId)).catch((error) => this.#parts.report(error));
    }
  }

  /** Looks again when the next message is due, and now and then for what other processes leave behind. */
  async #lookLater(): Promise<void> {
    const next = await this.#parts.store.nextDue(this.#parts.clock.now());
    const wait = next === null ? null : Math.max(next - this.#parts.clock.now(), 10);
    if (wait !== null || this.#parts.shared) this.#look(Math.min(wait ?? lookEvery, lookEvery));
  }

  #look(milliseconds: number): void {
    this.#cancelLook();
    if (this.#stopped) return;
    this.#cancelLook = this.#parts.clock.after(milliseconds, () => this.#lookNow());
  }

  #hold({ message, lease }: ClaimedMessage): void {
    this.#inFlight.add(message.id);
    this.#leases.hold(lease);
  }

  #release({ message, lease }: ClaimedMessage): void {
    this.#inFlight.delete(message.id);
    this.#leases.release(lease);
    if (this.#waitsForRoom) this.wake();
    if (this.#inFlight.size === 0) this.#changed();
  }

  #nextChange(atMost?: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = atMost === undefined ? () => {} : this.#parts.clock.after(atMost, resolve);
      this.#idle.push(() => {
        cancel();
        resolve();
      });
    });
  }

  #changed(): void {
    const idle = this.#idle;
    this.#idle = [];
    for (const resume of idle) resume();
  }
}

type ReadSettings = () => Settings | Promise<Settings>;

const capError = {
  code: 'recipient_rate_limited',
  message: 'The recipient already got as many messages as the caps allow',
};
