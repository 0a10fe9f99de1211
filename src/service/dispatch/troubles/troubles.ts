import type { Carrier, Deferral, Refusal } from '../../carriers/carrier.js';
import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import type { LaneTrouble } from '../../storage/instances.js';
import type { ClaimedMessage, ShownAnswer } from '../../storage/store.js';
import type { ShowAnswer } from '../answers.js';
import { isWaitedFor } from '../tries.js';
import { Episode } from './episode.js';
import { Sender, suspectsOf, type Trouble } from './sender.js';
import { Share } from './share.js';
import { shownOf } from './shown.js';
import { Throttles } from './throttles.js';
import { TroubleLog } from './trouble-log.js';

export interface TroublesParts {
  lane: string;
  carrier: Carrier;
  clock: Clock;
  report: Report;
  show: ShowAnswer;
}

/** Milliseconds between looks for senders with nothing left, and until a sender is looked for. */
const lookEvery = 5_000;
/** Milliseconds after which any sender without messages here is forgotten: deferred messages return hourly. */
const forgetAfter = 2 * 3_600_000;
/** Messages claimed at once while a lane tries one at a time. */
const claimedToTry = 10;
/** A carrier's capacity, in seconds of its rate. */
const capacitySeconds = 5;
/** Milliseconds until a lowered rate shows in the answers. */
const calmAfter = 1_000;
/** The least milliseconds between halvings of a rate, even if an operator answers at once. */
const leastAnswerMs = 250;

/**
 * Who may submit in a lane, depending on its carrier's answers: the only place that decides whether an answer is
 * about the account, the rate, a sender or a message. Each process has its own, except for the rate, which is lowered
 * for all.
 */
export class Troubles {
  readonly #parts: TroublesParts;
  readonly #log: TroubleLog;
  readonly #senders = new Map<string, Sender>();
  /** Senders with an answer against them. */
  readonly #troubled = new Set<Sender>();
  readonly #throttles: Throttles;
  #throttled: Trouble | null = null;
  /** When the rate was last lowered, on the monotonic clock. */
  #loweredAt = Number.NEGATIVE_INFINITY;
  /** Of the lane's rate, for a carrier without one. */
  readonly #share: Share;
  #episode: Episode | null = null;
  /** When senders with nothing left were last looked for, on the monotonic clock. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: TroublesParts) {
    const { lane, clock, report } = parts;
    this.#parts = parts;
    this.#log = new TroubleLog(lane, clock, report);
    this.#throttles = new Throttles(clock);
    this.#share = new Share(clock);
  }

  /** Whether nobody is held up. */
  get isCalm(): boolean {
    return this.#episode === null && this.#troubled.size === 0 && this.#share.factor === 1;
  }

  /** Whether its rate is lowered. */
  get isThrottled(): boolean {
    this.#look();
    return this.#throttled !== null;
  }

  enter(claimed: ClaimedMessage): void {
    this.#senderOf(claimed).inHand += 1;
  }

  leave(claimed: ClaimedMessage): void {
    const sender = this.#senderOf(claimed);
    sender.inHand -= 1;
    this.#episode?.release(claimed.message.id);
    if (sender.inHand === 0 && !this.#troubled.has(sender)) this.#senders.delete(sender.project);
  }

  /** Milliseconds until a message may check again; 0 if it may be submitted now. */
  waitOf(claimed: ClaimedMessage): number {
    if (this.isCalm) return 0;
    const sender = this.#senderOf(claimed);
    const isWaited = isWaitedFor(claimed);
    if (this.#episode?.holds(sender, isWaited))
      return this.#episode.waitOf(sender, isWaited, claimed.message.id);
    if (isWaited) return 0;
    return Math.max(0, ...this.#rates(sender).map(([share, rate]) => share.left(rate).wait));
  }

  /** The same for a message that has room; if it may be submitted, it counts as such. */
  admit(claimed: ClaimedMessage): number {
    const wait = this.waitOf(claimed);
    if (wait > 0 || this.isCalm) return wait;
    const sender = this.#senderOf(claimed);
    const isWaited = isWaitedFor(claimed);
    if (this.#episode?.holds(sender, isWaited)) return this.#episode.admit(claimed.message.id);
    if (!isWaited) for (const [share, rate] of this.#rates(sender)) share.take(rate);
    return 0;
  }

  accepted(claimed: ClaimedMessage): void {
    this.#throttles.accepted(claimed.message.projectId);
    if (this.isCalm && this.#throttled === null) return;
    const sender = this.#senderOf(claimed);
    this.#end();
    if (sender.suspected !== null) this.#log.ended(sender.project, 'suspected');
    sender.recover();
    for (const each of [...this.#troubled]) {
      each.laneRow.clear();
      if (each.account === 'refused') each.account = 'contradicted';
      if (!each.isTroubled) this.#troubled.delete(each);
    }
  }

  /** What an answer is about: what the carrier said, unless it is about the account and contradicted. */
  deferred(claimed: ClaimedMessage, given: Deferral, begunAt: number): Exclude<Deferral['scope'], 'lane'> {
    const sender = this.#senderOf(claimed);
    const answer = this.#parts.show(given);
    sender.deferredAt = this.#parts.clock.monotonic();
    if (given.scope === 'rate') {
      this.#throttle(claimed, answer, begunAt);
      return 'rate';
    }
    const isOfAccount = given.scope === 'account' && sender.account !== 'contradicted';
    if (isOfAccount) {
      sender.account = 'refused';
      // The suspicion of others has lasted, and would delay this one for as long.
      if (this.#episode?.kind !== 'account') this.#begin('account', answer);
    } else if (given.scope === 'message') this.#served(claimed.message.id);
    if (isOfAccount || !given.isOfRecipient) this.#count(claimed, sender, answer, isOfAccount);
    this.#episode?.release(claimed.message.id);
    return isOfAccount ? 'account' : 'message';
  }

  refused(claimed: ClaimedMessage, given: Refusal): void {
    this.#served(claimed.message.id);
    if (given.isOfSender) this.#log.refused(claimed.message.projectId, this.#parts.show(given));
  }

  /** Forgets senders with nothing left in the lane: nothing would end their troubles. `findWaiting`: see Dispatching. */
  async forgetIdle(findWaiting: (projects: readonly string[]) => Promise<string[]>): Promise<void> {
    const now = this.#parts.clock.monotonic();
    const isIdle = ({ inHand, deferredAt }: Sender) => inHand === 0 && now >= deferredAt + lookEvery;
    const idle = [...this.#troubled].filter(isIdle);
    if (idle.length === 0 || now < this.#lookedAt + lookEvery) return;
    this.#lookedAt = now;
    const waiting = new Set(await findWaiting(idle.map(({ project }) => project)));
    for (const sender of idle) if (sender.inHand === 0 && !waiting.has(sender.project)) this.#forget(sender);
  }

  /** The most messages of each held-up project that may be claimed now; null if none is held up. */
  limits(): { limits: ReadonlyMap<string, number> } | null {
    this.#look();
    if (this.isCalm) return null;
    const limits = new Map<string, number>();
    for (const sender of this.#troubled) {
      const most = this.#mostOf(sender);
      if (most !== null) limits.set(sender.project, most);
    }
    return { limits };
  }

  /** Messages that a lane claims at once, out of those it has room for. */
  most(room: number): number {
    if (this.#episode?.kind === 'account') return Math.min(room, claimedToTry);
    const { factor } = this.#share;
    return factor === 1 ? room : Math.ceil(room * factor);
  }

  list(): LaneTrouble[] {
    this.#look();
    return shownOf(this.#episode, this.#throttled, this.#troubled, this.#parts.clock.monotonic());
  }

  /** A carrier's answer about the message being tried shows that it serves the account. */
  #served(id: string): void {
    if (this.#episode?.kind === 'account' && this.#episode.isTrying(id)) this.#end();
    else this.#episode?.release(id);
  }

  #begin(kind: Episode['kind'], answer: ShownAnswer): void {
    this.#end();
    this.#episode = new Episode(kind, answer, this.#parts.clock);
  }

  #end(): void {
    if (this.#episode !== null) this.#log.ended(null, this.#episode.state);
    this.#episode = null;
  }

  #senderOf({ message: { projectId } }: ClaimedMessage): Sender {
    const sender = this.#senders.get(projectId) ?? new Sender(projectId, this.#parts.clock);
    this.#senders.set(projectId, sender);
    return sender;
  }

  /** The lane's messages a second. */
  get #rate(): number {
    return Math.max(1, this.#parts.carrier.capacity(this.#parts.lane) / capacitySeconds);
  }

  #mostOf(sender: Sender): number | null {
    const episode = this.#episode;
    if (episode?.holds(sender, false)) return episode.waitOf(sender, false, null) > 0 ? 0 : 1;
    const rate = sender.rate(this.#rate);
    return rate === null ? null : sender.share.left(rate).messages;
  }

  /** The limits for a sender. */
  #rates(sender: Sender): [share: Share, perSecond: number][] {
    const rate = sender.rate(this.#rate);
    const own: [Share, number][] = rate === null ? [] : [[sender.share, rate]];
    const { factor } = this.#share;
    return factor === 1 ? own : [...own, [this.#share, this.#rate * factor]];
  }

  /** An answer that is about the account, or may be about everybody. */
  #count(
    { message: { id, to } }: ClaimedMessage,
    sender: Sender,
    answer: ShownAnswer,
    isOfAccount: boolean,
  ): void {
    this.#troubled.add(sender);
    sender.row.add(answer.code, to);
    sender.laneRow.add(answer.code, to);
    if (sender.row.isFull || sender.suspected !== null) {
      sender.suspected = { since: sender.suspected?.since ?? this.#parts.clock.monotonic(), answer };
      this.#log.goesOn(sender.project, 'suspected', answer);
    }
    const suspects = suspectsOf([...this.#senders.values()]);
    if (suspects.length > 0 && this.#episode === null) this.#begin('suspected', answer);
    const episode = this.#episode;
    if (episode === null) return;
    for (const each of suspects) episode.senders.add(each);
    if (!isOfAccount && !episode.senders.has(sender) && !episode.isTrying(id)) return;
    // An answer about the message itself does not pause the account.
    if (isOfAccount || episode.kind === 'suspected') episode.answer = answer;
    episode.failed(id, sender);
    this.#log.goesOn(null, episode.state, episode.answer);
  }

  #throttle(claimed: ClaimedMessage, answer: ShownAnswer, begunAt: number): void {
    const { clock, carrier, lane, report } = this.#parts;
    const now = clock.monotonic();
    const answeredMs = Math.max(now - begunAt, leastAnswerMs);
    const about = this.#throttles.throttled(claimed.message.projectId, claimed.message.to);
    if (about === 'sender') {
      const sender = this.#senderOf(claimed);
      sender.share.lower(this.#rate, answeredMs);
      sender.throttled = { since: sender.throttled?.since ?? now, answer };
      this.#troubled.add(sender);
      this.#log.goesOn(sender.project, 'throttled', answer);
    }
    if (about !== 'lane') return;
    this.#throttled = { since: this.#throttled?.since ?? now, answer };
    this.#log.goesOn(null, 'throttled', answer);
    if (now - this.#loweredAt < answeredMs) return;
    this.#loweredAt = now;
    if (carrier.lowerRate === undefined) this.#share.lower(this.#rate, answeredMs);
    else carrier.lowerRate(lane, answeredMs).catch((error) => report(error, { level: 'warning' }));
  }

  /** Ends what has expired. */
  #look(): void {
    const { clock, carrier, lane } = this.#parts;
    const now = clock.monotonic();
    const factor = carrier.factor?.(lane) ?? this.#share.factor;
    if (factor < 1) this.#throttled ??= { since: now, answer: { code: '', words: '' } };
    else if (this.#throttled !== null && now - this.#loweredAt > calmAfter) {
      this.#log.ended(null, 'throttled');
      this.#throttled = null;
    }
    for (const sender of [...this.#troubled]) {
      if (sender.throttled !== null && sender.share.factor === 1) {
        this.#log.ended(sender.project, 'throttled');
        sender.throttled = null;
      }
      if (sender.isTroubled && (sender.inHand > 0 || now - sender.deferredAt < forgetAfter)) continue;
      this.#forget(sender);
    }
  }

  #forget(sender: Sender): void {
    // Forgotten before: its project may have another one by now.
    if (!this.#troubled.delete(sender)) return;
    for (const state of ['suspected', 'throttled'] as const) this.#log.ended(sender.project, state);
    if (sender.inHand === 0) this.#senders.delete(sender.project);
    // Nobody is left whom it is about.
    if (this.#episode?.senders.delete(sender) && this.#episode.senders.size === 0) this.#end();
  }
}
