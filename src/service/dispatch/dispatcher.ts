import type { Channel } from '../../contract/index.js';
import type { ClaimedMessage, Finalized, Mark, Receipt } from '../storage/store.js';
import { answerShower } from './answers.js';
import { coalesced } from './coalesced.js';
import { Condition } from './condition.js';
import { Deadlines } from './deadlines.js';
import { resolveDoubt } from './doubt.js';
import { Finalizer } from './finalizer.js';
import { HeldLeases, leaseTime } from './held-leases.js';
import { type Lane, lanesOf, setPaused } from './lane.js';
import { LeaseTools, type SharedTools } from './lease-tools.js';
import { isDue, nextPoll } from './next-poll.js';
import type { DispatcherParts, DispatchRules, RulesOf } from './parts.js';
import { PollLoop } from './poll-loop.js';
import { type Held, type Slot, slotWithoutRoom, takeRoom } from './slot.js';
import { submitMessage } from './submit.js';

const groupSize = 1_000;

/**
 * Takes accepted messages to their carriers: those of requests at once, and due ones in the background, those of dead
 * processes included.
 *
 * Callbacks, in order: `prepare` keeps room and a lease; `slot.dispatch`, or a poll of the queue, passes claimed messages
 * to `#dispatchAll`; `#dispatch` submits each; `Finalizer.write` stores the outcomes of a tick in one transaction, then
 * calls `end`. `onDelay` is called if that write fails, so that no request waits for its repeats.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly #finalizer: Finalizer;
  readonly #leases: HeldLeases;
  readonly #deadlines: Deadlines;
  readonly #shared: SharedTools;
  /** Messages being dispatched here. */
  #inFlight = 0;
  #reserved = 0;
  #claims = 0;
  /** A lane was full at the last poll: a finished message makes room. */
  #waitsForRoom = false;
  #unsubscribe: () => void = () => {};
  readonly #changed: Condition;
  readonly #loop: PollLoop;

  constructor(parts: DispatcherParts) {
    const { store, clock, report, carriers, answer, leaseMs = leaseTime } = parts;
    const show = answerShower(parts.secrets);
    this.#parts = parts;
    this.lanes = lanesOf(carriers, { clock, report, show });
    this.#leases = new HeldLeases(store, clock, report, leaseMs);
    this.#deadlines = new Deadlines(clock);
    this.#changed = new Condition(clock);
    this.#loop = new PollLoop({
      clock,
      report,
      poll: () => this.#poll(),
      onRest: () => this.#changed.notifyAll(),
    });
    this.#finalizer = new Finalizer(store, answer, clock, report);
    const mark = coalesced((marks: readonly Mark[]) => store.markSubmitting(marks));
    this.#shared = {
      ...parts,
      lanes: this.lanes,
      leases: this.#leases,
      deadlines: this.#deadlines,
      show,
      mark: (one) => new Promise((resolve, reject) => mark(one, resolve, reject)),
      onLate: (disposition) => this.#finalizer.write(disposition, ignore, ignore),
    };
  }

  async start(): Promise<void> {
    const { carriers, changes, store, answer, receive } = this.#parts;
    this.#loop.start();
    this.#finalizer.start();
    this.#unsubscribe();
    this.#unsubscribe = changes.subscribe('due', () => this.#loop.wake());
    const record = async (receipt: Receipt) => void (await store.recordReceipts([receipt], answer));
    await Promise.all(carriers.map((carrier) => carrier.start(record, receive)));
    this.#loop.wake();
  }

  /** Claims only single messages from now on. */
  drain(): void {
    for (const lane of this.lanes.values()) lane.isDraining = true;
  }

  /** Claims nothing more, and waits until what is in flight has finished or was returned. */
  async stop(): Promise<void> {
    this.#loop.stop();
    this.#unsubscribe();
    this.#finalizer.stop();
    await Promise.all(this.#parts.carriers.map((carrier) => carrier.stop()));
    while (this.#isBusy) await this.#changed.wait();
    this.#leases.stop();
    this.#waitsForRoom = false;
  }

  /** Resolves when no message is leased, or due and unclaimed. */
  async idle(): Promise<void> {
    for (let round = 0; ; round += 1) {
      while (this.#isBusy) await this.#changed.wait();
      if (!(await this.#parts.store.hasDue())) return;
      // Another process has them, or died: its leases expire.
      if (round > 0) await this.#changed.wait(50);
      this.#loop.pollNow();
    }
  }

  /** Called just before the messages are accepted. */
  prepare(channel: Channel, recipients: readonly { operator: string | null }[], rules: DispatchRules): Slot {
    const all = recipients.map(({ operator }) => this.#parts.routesOf({ channel, operator }, rules));
    const routes = all.map(([first]) => first);
    const room = this.#loop.isStopped ? null : takeRoom(this.lanes, routes);
    if (room === null) return slotWithoutRoom(this.lanes, all);
    this.#reserved += recipients.length;
    return {
      routes,
      claim: { ...this.#newLease(), doubtMs: room.doubtMs },
      dispatch: (claimed) => {
        this.#reserved -= recipients.length;
        room.release();
        if (claimed.length === 0) {
          this.#loop.wake();
          this.#changed.notifyAll();
        }
        return this.#dispatchAll(claimed, () => rules);
      },
    };
  }

  /** A lease that starts now; its token is for one claim only. */
  #newLease(): { token: string; leaseMs: number } {
    this.#claims += 1;
    const token = `${this.#parts.owner}.${this.#claims.toString(36)}`;
    this.#leases.begin(token);
    return { token, leaseMs: this.#leases.leaseMs };
  }

  /**
   * Dispatches the messages of a lease. Resolves when the first one is finished, with null once it is known to be
   * delayed. Never rejects: the caller would take an error for a send that did not happen.
   */
  #dispatchAll(claimed: readonly ClaimedMessage[], rulesOf: RulesOf): Promise<Finalized | null> {
    const [first] = claimed;
    if (first === undefined) return Promise.resolve(null);
    const tools = new LeaseTools(first.token, this.#shared);
    return new Promise((resolve) => {
      this.#dispatch(first, rulesOf, tools, () => resolve(null), resolve);
      for (const one of claimed.slice(1)) this.#dispatch(one, rulesOf, tools, ignore, ignore);
    });
  }

  #dispatch(
    claimed: ClaimedMessage,
    rulesOf: RulesOf,
    tools: LeaseTools,
    onDelay: () => void,
    onEnd: (finalized: Finalized | null) => void,
  ): void {
    this.#enter(claimed);
    const held: Held = {};
    const end = (finalized: Finalized | null) => {
      held.reservation?.release();
      this.#leave(claimed);
      onEnd(finalized);
    };
    submitMessage(claimed, rulesOf, tools, held).then(
      (disposition) => this.#finalizer.write(disposition, onDelay, end),
      (error) => {
        this.#parts.report(error);
        end(null);
      },
    );
  }

  #enter(claimed: ClaimedMessage): void {
    this.lanes.get(claimed.lane)?.enter(claimed);
    this.#inFlight += 1;
    this.#leases.hold(claimed.token);
  }

  #leave(claimed: ClaimedMessage): void {
    this.#leases.release(claimed.token);
    this.#inFlight -= 1;
    const lane = this.lanes.get(claimed.lane);
    lane?.leave(claimed);
    if (this.#waitsForRoom && lane?.hasNewRoom) this.#loop.wake();
    if (this.#inFlight === 0) {
      // Polls until its troubles are over.
      if (lane?.troubles.isCalm === false) this.#loop.wake();
      this.#deadlines.clear();
      this.#changed.notifyAll();
    }
  }

  async #resolveDoubt(claimed: ClaimedMessage, lane: Lane): Promise<void> {
    this.#enter(claimed);
    lane.doubts += 1;
    const held: Held = {};
    try {
      const disposition = await resolveDoubt(claimed, lane, this.#shared, held);
      await new Promise((resolve) => this.#finalizer.write(disposition, ignore, resolve));
    } finally {
      held.repeat?.release();
      lane.doubts -= 1;
      this.#leave(claimed);
    }
  }

  get #isBusy(): boolean {
    return this.#loop.isRunning || this.#inFlight > 0 || this.#reserved > 0;
  }

  /** Claims and dispatches what is due. Returns the milliseconds until the next poll; null if none is needed. */
  async #poll(): Promise<number | null> {
    const { store, isShared } = this.#parts;
    const lanes = [...this.lanes.values()];
    const open = lanes.filter((lane) => lane.wanted('batch') > 0);
    const closed = lanes.filter((lane) => !open.includes(lane));
    this.#waitsForRoom = closed.some(({ isOpen }) => isOpen);
    const openWork = await store.nextWork(open.map(({ name }) => name));
    if (setPaused(lanes, openWork.paused)) this.#loop.pollNow();
    const closedWork = closed.length === 0 ? null : await store.nextWork(closed.map(({ name }) => name));
    if (isDue(openWork.leases)) await store.endLeases();
    // A lane without room for batches may have room for single messages.
    const due = [...(isDue(openWork.messages) ? open : []), ...(isDue(closedWork?.messages) ? closed : [])];
    for (const lane of due) if (lane.isOpen) await this.#claim(lane, false);
    const ageing = closed.filter((lane) => lane.heldUpAgo === null);
    for (const lane of isDue(closedWork?.overdue) ? ageing : [])
      if (!lane.isOpen) await this.#claim(lane, true);
    if (isDue(openWork.doubts) || isDue(closedWork?.doubts))
      for (const lane of lanes) await this.#claimDoubts(lane);
    // No claim is under way: all that is left of a sender with nothing in flight here is in the queue.
    for (const { name, troubles } of lanes)
      await troubles.forgetIdle((projects) => store.findWaiting(name, projects));
    return nextPoll({ open, closed, ageing }, openWork, closedWork, isShared);
  }

  /** Single messages first: a verification must not wait behind a batch. */
  async #claim(lane: Lane, onlyOverdue: boolean): Promise<void> {
    for (const each of ['single', 'batch'] as const) {
      const limit = onlyOverdue ? groupSize : Math.min(groupSize, lane.wanted(each));
      if (limit === 0 || (each === 'batch' && lane.isDraining)) continue;
      const limits = each === 'batch' && !onlyOverdue ? lane.troubles.limits() : null;
      const claim = { ...this.#newLease(), limit, lane: lane.name, class: each, onlyOverdue, ...limits };
      // Held during the claim, so that messages accepted meanwhile find other room.
      const kept = each === 'batch' ? limit : 0;
      lane.take(kept);
      const claimed = await this.#parts.store.claimMessages(claim).catch((error) => {
        lane.release(kept);
        throw error;
      });
      const rules = await this.#rulesOfAll(claimed);
      lane.release(kept);
      if (claimed.length > 0) this.#loop.pollNow();
      void this.#dispatchAll(claimed, rules);
    }
  }

  /** Reads all rules before dispatching: messages are sent in turn, whichever project's rules arrive first. */
  async #rulesOfAll(claimed: readonly ClaimedMessage[]): Promise<RulesOf> {
    const known = new Map<string, Promise<DispatchRules>>();
    for (const { message } of claimed)
      if (!known.has(message.projectId)) known.set(message.projectId, this.#parts.rulesOf(message.projectId));
    await Promise.allSettled(known.values());
    return (projectId) => known.get(projectId) as Promise<DispatchRules>;
  }

  async #claimDoubts(lane: Lane): Promise<void> {
    const limit = Math.min(groupSize, lane.wantedDoubts);
    if (limit === 0) return;
    const claim = { ...this.#newLease(), limit, lane: lane.name };
    const doubts = await this.#parts.store.claimDoubts(claim);
    if (doubts.length > 0) this.#loop.pollNow();
    for (const one of doubts) this.#resolveDoubt(one, lane).catch((error) => this.#parts.report(error));
  }
}

const ignore = () => {};
