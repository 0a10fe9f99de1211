import type { SendAnswer } from '../answers.js';
import { bound } from '../answers.js';
import type { Carrier } from '../carriers/carrier.js';
import type { Clock } from '../clock.js';
import { capsOf, type Settings } from '../settings.js';
import { cappedUntil } from '../store/caps.js';
import type { ClaimedMessage, Lease, MessageRecord, Outcome, Settled, Store } from '../store/store.js';
import { type HandOver, handOver, notAccepted } from './hand-over.js';
import { SettlementDesk } from './settlement-desk.js';

export interface DeliveryParts {
  store: Store;
  carrier: Carrier;
  clock: Clock;
  /** Unique to this service object. */
  owner: string;
  /** How a single send is answered once its message is settled. */
  answer(message: MessageRecord, balance: number): SendAnswer;
  settingsOf(projectId: string): Promise<Settings>;
  open(sealed: Uint8Array): string;
  /** Told of every message that was settled here, and the key whose answer was bound with it. */
  onSettled(settled: Settled, boundKey: string | null): void;
  /** Whether other processes may leave messages behind in the store. */
  shared: boolean;
}

/** Milliseconds. A process that dies keeps others waiting for its messages as long as a lease. */
export const leaseTime = 5_000;
const renewEvery = 1_500;
const lookEvery = 1_000;
/** Milliseconds between hand-overs of a message that was certainly not taken, or whose fate is unknown. */
const retryDelays = [200, 500, 1_000, 2_000, 5_000, 5_000, 5_000, 5_000, 5_000, 10_000, 30_000, 60_000];
/** Hand-overs that were certainly not taken, after which a message fails. */
const maxAttempts = 10;
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
  /** By token, its leases: until when it may submit (monotonic), as last renewed, and how many messages hold them. */
  readonly #leases = new Map<string, { deadline: number; messages: number }>();
  /** By token, the oldest first, when leases that nothing holds yet began (monotonic). */
  readonly #begun = new Map<string, number>();
  /** Messages there is room kept for. */
  #reserved = 0;
  #claims = 0;
  #running = false;
  #stopped = true;
  #again = false;
  #cancelLook: () => void = () => {};
  #cancelRenewal: (() => void) | null = null;
  #idle: (() => void)[] = [];

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#desk = new SettlementDesk(parts.store, (message, balance) => bound(parts.answer(message, balance)));
  }

  /** A lease that begins now; its token is used for one claim only. */
  newLease(): Lease {
    this.#claims += 1;
    const { clock, owner } = this.#parts;
    const token = `${owner}.${this.#claims.toString(36)}`;
    const begin = clock.monotonic();
    for (const [old, begun] of this.#begun) {
      if (begun + leaseTime > begin) break;
      this.#begun.delete(old);
    }
    this.#begun.set(token, begin);
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

  /** Looks for due messages now. */
  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (!this.#running) void this.#run();
  }

  /** Claims nothing more and waits until what is in flight is settled or given back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelLook();
    while (this.#busy) await this.#nextChange();
    this.#cancelRenewal?.();
  }

  /** Resolves when no message is leased, or due and not taken up. */
  async settled(): Promise<void> {
    for (let round = 0; ; round += 1) {
      while (this.#busy) await this.#nextChange();
      if (!(await this.#parts.store.hasDue(this.#parts.clock.now()))) return;
      // Another process is at it, or died: its leases end by themselves.
      if (round > 0) await this.#nextChange(50);
      this.wake();
    }
  }

  /**
   * Hands over a message that the caller has leased and waits for the end. Null when that is not known yet:
   * the message stays queued and goes on in the background.
   */
  async deliver(claimed: ClaimedMessage, settings: Settings): Promise<Settled | null> {
    const { lease } = claimed;
    this.#hold(claimed);
    try {
      const rules = {
        noLinkOperators: settings.no_link_operators,
        refusal: this.#overCap(claimed, settings) ? capError : null,
      };
      const result = await handOver(claimed, rules, {
        carrier: this.#parts.carrier,
        clock: this.#parts.clock,
        open: this.#parts.open,
        deadline: () => this.#leases.get(lease.token)?.deadline ?? 0,
      });
      const outcome = finalOutcome(result, claimed.attempts);
      if (outcome !== null) return await this.#settle(claimed, outcome);
      await this.#postpone(claimed);
      return null;
    } finally {
      this.#release(claimed);
    }
  }

  async #settle(claimed: ClaimedMessage, outcome: Outcome): Promise<Settled | null> {
    const settled = await this.#desk.settle({ claimed, outcome, at: this.#parts.clock.now() });
    if (settled !== null) this.#parts.onSettled(settled, claimed.pendingKey);
    return settled;
  }

  async #postpone({ message, lease, attempts }: ClaimedMessage): Promise<void> {
    const wait = this.#stopped ? 0 : (retryDelays[attempts - 1] ?? retryDelays.at(-1) ?? 0);
    const at = this.#parts.clock.now() + wait;
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
    } catch {
      // The store is busy or the disk full: nothing was lost, the next look tries again.
      this.#look(lookEvery);
    } finally {
      this.#running = false;
      this.#changed();
      if (this.#again && !this.#stopped) void this.#run();
    }
  }

  async #claimGroup(): Promise<void> {
    const limit = Math.min(groupSize, this.#free());
    if (limit <= 0) return;
    const { clock, store } = this.#parts;
    const next = await store.nextDue(clock.now());
    if (next === null || next > clock.now()) return;
    const claimed = await store.claimMessages({ lease: this.newLease(), now: clock.now(), limit });
    if (claimed.length > 0) this.#again = true;
    const settings = new Map<string, Settings>();
    for (const { message } of claimed) {
      if (settings.has(message.projectId)) continue;
      settings.set(message.projectId, await this.#parts.settingsOf(message.projectId));
    }
    this.#deliverAll(claimed, (projectId) => settings.get(projectId) as Settings);
  }

  #deliverAll(claimed: readonly ClaimedMessage[], settingsOf: (projectId: string) => Settings): void {
    for (const one of claimed) {
      // Its own lease ran out while it was still at it: whoever holds it then settles it.
      if (this.#inFlight.has(one.message.id)) continue;
      void this.deliver(one, settingsOf(one.message.projectId))
        .catch(() => {})
        .finally(() => {
          if (this.#free() === 1) this.wake();
        });
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
    this.#cancelLook = this.#parts.clock.after(milliseconds, () => this.wake());
  }

  #hold({ message, lease }: ClaimedMessage): void {
    this.#inFlight.add(message.id);
    const begun = this.#begun.get(lease.token) ?? Number.NEGATIVE_INFINITY;
    const held = this.#leases.get(lease.token) ?? { deadline: begun + leaseTime, messages: 0 };
    this.#begun.delete(lease.token);
    held.messages += 1;
    this.#leases.set(lease.token, held);
    this.#cancelRenewal ??= this.#parts.clock.after(renewEvery, () => void this.#renew());
  }

  #release({ message, lease }: ClaimedMessage): void {
    this.#inFlight.delete(message.id);
    const held = this.#leases.get(lease.token);
    if (held !== undefined) held.messages -= 1;
    if (held?.messages === 0) this.#leases.delete(lease.token);
    if (this.#inFlight.size === 0) this.#changed();
  }

  /** Renews the leases of what takes long. */
  async #renew(): Promise<void> {
    this.#cancelRenewal = null;
    if (this.#leases.size === 0) return;
    this.#cancelRenewal = this.#parts.clock.after(renewEvery, () => void this.#renew());
    const { clock } = this.#parts;
    const deadline = clock.monotonic() + leaseTime;
    const ending = [...this.#leases].filter(([, held]) => held.deadline < deadline - renewEvery / 2);
    try {
      const renewed = await this.#parts.store.renewLeases(
        ending.map(([token]) => token),
        clock.now() + leaseTime,
      );
      for (const [index, [, held]] of ending.entries()) if (renewed[index]) held.deadline = deadline;
    } catch {
      // The next renewal tries again; a lease that ends meanwhile stops its hand-overs.
    }
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

const capError = {
  code: 'recipient_rate_limited',
  message: 'The recipient already got as many messages as the caps allow',
};

/** Null while the message has no end yet: never while it may have been taken. */
function finalOutcome(result: HandOver, attempts: number): Outcome | null {
  if (result.status === 'sent' || result.status === 'failed') return result;
  if (result.status === 'unknown' || attempts < maxAttempts) return null;
  return { status: 'failed', error: notAccepted('it could not be reached') };
}
