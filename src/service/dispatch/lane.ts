import {
  type Carrier,
  type CarrierAnswer,
  type DayLimit,
  type Deferral,
  notConnectedCode,
  type Refusal,
} from '../carriers/carrier.js';
import type { LaneTrouble } from '../storage/instances.js';
import type { ClaimedMessage, MessageClass, ShownAnswer } from '../storage/store.js';
import { Backoff } from './backoff.js';
import { TroubleLog } from './troubles/trouble-log.js';
import { Troubles, type TroublesParts } from './troubles/troubles.js';

/** Room reserved for single messages: a tenth of the capacity, up to this many. */
const mostKept = 100;
/** The least share of a lane's batch messages that is worth a claim. */
const leastClaimed = 0.25;
const noAnswer: ShownAnswer = { code: 'no answer', words: '' };

/** A carrier's queue, with the state of this process's submissions from it. */
export class Lane {
  readonly name: string;
  readonly carrier: Carrier;
  /** Decides who may submit. */
  readonly troubles: Troubles;
  /** Paused by the owner of the service. */
  isPaused = false;
  /** This process is about to stop: it takes no message of a batch. */
  isDraining = false;
  /** Doubts being resolved here. */
  doubts = 0;
  readonly #parts: TroublesParts;
  readonly #log: TroubleLog;
  /** Messages being accepted, submitted or written. */
  #taken = 0;
  /** Runs while the carrier is unreachable or does not answer. */
  readonly #backoff: Backoff;
  #pausedBy: ShownAnswer = noAnswer;

  constructor(parts: TroublesParts) {
    this.name = parts.lane;
    this.carrier = parts.carrier;
    this.troubles = new Troubles(parts);
    this.#parts = parts;
    this.#log = new TroubleLog(parts.lane, parts.clock, parts.report);
    this.#backoff = new Backoff(parts.clock);
  }

  take(messages: number): void {
    this.#taken += messages;
  }

  release(messages: number): void {
    this.#taken -= messages;
  }

  /** A message starts being dispatched here. */
  enter(claimed: ClaimedMessage): void {
    this.take(1);
    this.troubles.enter(claimed);
  }

  leave(claimed: ClaimedMessage): void {
    this.release(1);
    this.troubles.leave(claimed);
  }

  /** Whether the message that left made room for the first single message, or there is room for a batch's. */
  get hasNewRoom(): boolean {
    return this.room('single') === 1 || this.wanted('batch') > 0;
  }

  /** Messages of a class that it can accept now. */
  room(of: MessageClass): number {
    if (of === 'batch' && this.isDraining) return 0;
    return this.isOpen ? Math.max(0, this.#most(of) - this.#taken) : 0;
  }

  /**
   * Messages of a class to claim now. For batches never just a few, because claiming one costs as much as claiming
   * many.
   */
  wanted(of: MessageClass): number {
    const room = this.room(of);
    return of === 'batch' && room < this.#most(of) * leastClaimed ? 0 : room;
  }

  /** Doubts to claim now: no more than can be repeated at once. */
  get wantedDoubts(): number {
    const { most = Number.POSITIVE_INFINITY } = this.carrier.repeatsOf?.(this.name) ?? {};
    return Math.max(0, most - this.doubts);
  }

  #most(of: MessageClass): number {
    const capacity = this.troubles.most(this.carrier.capacity(this.name));
    if (of === 'single') return capacity;
    const ahead = this.carrier.ahead?.(this.name) ?? Number.POSITIVE_INFINITY;
    return Math.min(capacity - Math.min(mostKept, Math.floor(capacity / 10)), this.troubles.most(ahead));
  }

  get isOpen(): boolean {
    return this.closedBecause === null;
  }

  /** A reason for people; null while the lane is open. */
  get closedBecause(): string | null {
    if (this.isPaused) return `the lane ${this.name} is paused`;
    if (this.carrier.capacity(this.name) === 0) {
      const { isReached = false } = this.#dayLimit ?? {};
      return `${this.name} ${isReached ? 'has reached its limit of a day' : 'is not connected'}`;
    }
    return this.#backoff.left > 0 ? `the lane ${this.name} is paused (${this.#pausedBy.code})` : null;
  }

  /** Milliseconds since its carrier's limit of a day held up messages, 0 while it does; null if it has not for a day. */
  get heldUpAgo(): number | null {
    return this.#dayLimit?.agoMs ?? null;
  }

  get #dayLimit(): DayLimit | null {
    return this.carrier.dayLimit?.(this.name) ?? null;
  }

  /** Whether its carrier has had no connection for a while. */
  get isDown(): boolean {
    return this.carrier.isDown?.(this.name) ?? false;
  }

  accepted(claimed: ClaimedMessage): void {
    this.#served();
    this.troubles.accepted(claimed);
  }

  refused(claimed: ClaimedMessage, refusal: Refusal): void {
    this.#served();
    this.troubles.refused(claimed, refusal);
  }

  /** What an answer is about; its submission started at `begunAt`, on the monotonic clock. */
  deferred(claimed: ClaimedMessage, answer: Deferral, begunAt: number): Deferral['scope'] {
    if (answer.scope !== 'lane') return this.troubles.deferred(claimed, answer, begunAt);
    this.#pause(this.#parts.show(answer), answer.retryAfterMs);
    return 'lane';
  }

  /** Every further message would be in doubt too. */
  doubted(answer: CarrierAnswer): void {
    this.#pause(this.#parts.show(answer));
  }

  listTroubles(): LaneTrouble[] {
    const troubles = [...this.#listDayLimit(), ...this.troubles.list()];
    const { left, since } = this.#backoff;
    if (left === 0) return troubles;
    const forMs = Math.floor(this.#parts.clock.monotonic() - since);
    return [{ project: null, state: 'backing_off', forMs, ...this.#pausedBy }, ...troubles];
  }

  #listDayLimit(): LaneTrouble[] {
    const { isReached = false, forMs = 0, words = '' } = this.#dayLimit ?? {};
    const answer = { code: '', words };
    if (isReached) this.#log.goesOn(null, 'day_limit', answer);
    else this.#log.ended(null, 'day_limit');
    return isReached ? [{ project: null, state: 'day_limit', forMs: Math.floor(forMs), ...answer }] : [];
  }

  #pause(because: ShownAnswer, atLeast = 0): void {
    this.#pausedBy = because;
    this.#backoff.pause(atLeast);
    if (because.code !== notConnectedCode) this.#log.goesOn(null, 'backing_off', because);
  }

  #served(): void {
    this.#backoff.reset();
    this.#log.ended(null, 'backing_off');
  }
}

/** The lanes of all carriers, by name. */
export function lanesOf(
  carriers: readonly Carrier[],
  tools: Omit<TroublesParts, 'lane' | 'carrier'>,
): Map<string, Lane> {
  const lanes = carriers.flatMap((carrier) => carrier.lanes.map((lane) => ({ ...tools, lane, carrier })));
  return new Map(lanes.map((parts) => [parts.lane, new Lane(parts)]));
}

/** Pauses exactly these lanes; returns whether any has changed. */
export function setPaused(lanes: Iterable<Lane>, paused: readonly string[]): boolean {
  let hasChanged = false;
  for (const lane of lanes) {
    const isPaused = paused.includes(lane.name);
    if (isPaused !== lane.isPaused) hasChanged = true;
    lane.isPaused = isPaused;
  }
  return hasChanged;
}
