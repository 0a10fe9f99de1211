import type { RequestEntry } from '../job/journal.js';
import { type RequestKey, requestKeys } from '../job/keys.js';
import type { PlannedRequest } from '../plan/plan.js';
import {
  type Attempt,
  acceptedEntry,
  backoff,
  learnBalance,
  settledBy,
  startAttempt,
  timeLeft,
} from './attempt.js';
import { membersOf } from './batch-recipients.js';
import type { Progress } from './recorder.js';
import type { Ending, RunOptions } from './run.js';
import { type RequestBody, sendOnce, unlessAborted } from './send-once.js';
import type { Budget } from './spend-limit.js';
import { type Answer, next, recipientForm, type Step } from './transitions.js';

type Stop = NonNullable<Ending['stopped']>;
type StepTo<To extends Step['to']> = Extract<Step, { to: To }>;

/** What settling one request needs of the run that it is part of. */
export interface Host {
  readonly progress: Progress;
  readonly budget: Budget;
  /** Why nothing new is sent any more; null while the run goes on. */
  readonly stopped: Ending['stopped'];
  /** Aborted when the run stops. */
  readonly halted: AbortSignal;
  halt(reason: Stop): void;
  /** A request was accepted; its end may be worth waiting for. */
  accepted(request: PlannedRequest, id: string): void;
  /** When a request was last accepted. */
  readonly lastAccepted: number;
  setAside(waiting: { request: number; since: number; due: number }): void;
  readPrices(): Promise<void>;
}

/** Takes requests one after the other to an answer, each by the steps that `next` knows and no others. */
export class Settler {
  readonly #options: RunOptions;
  readonly #host: Host;
  readonly #keyOf: RequestKey;
  /** Batches whose acceptance is being recorded, and for which request. */
  readonly #answered = new Map<string, number>();

  constructor(options: RunOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#keyOf = requestKeys(options.jobId, options.plan.meta);
  }

  /** Sends a request until an answer settles it, its time is up, or the job stops. */
  async settle(request: PlannedRequest, since: number | null): Promise<void> {
    const { table, journal, now } = this.#options;
    const { progress, budget } = this.#host;
    const { number } = request;
    let attempt = startAttempt(this.#keyOf, request, table, { since });
    while (await this.#mayGoOn(number, attempt.since)) {
      attempt.since ??= now();
      if (table.phase(number) !== 'doubt') {
        if (!budget.take(request, table.removed(number).size)) {
          const price = budget.priceOf(request, table.removed(number).size);
          return this.#host.halt({ by: 'limit', price });
        }
        await progress.record(['send', number, table.revision(number), attempt.body.to.length]);
      }
      if (journal.fault !== null) throw journal.fault;
      const answer = await this.#send(attempt.body);
      if (answer === null || answer.kind === 'doubt') progress.doubt(number);
      if (answer === null) return;
      attempt.tries += 1;
      const step = next(attempt.sent, answer);
      if (answer.kind === 'doubt') attempt.sent.unanswered += 1;
      learnBalance(attempt, table, answer);
      if (!(await this.#follow(attempt, step))) return;
      if (step.to === 'removed') {
        attempt = startAttempt(this.#keyOf, request, table, { since: attempt.since });
      }
      if (step.to === 'revised') {
        const { since, tries, sent } = attempt;
        attempt = startAttempt(this.#keyOf, request, table, { since, tries, foreign: sent.foreign + 1 });
      }
    }
  }

  /** Waits for a token; false when the request is settled or nothing more is to be sent. */
  async #mayGoOn(request: number, since: number | null): Promise<boolean> {
    const { pace, stop, table, maxWait, now } = this.#options;
    for (;;) {
      // Where nothing new can be paid for, a doubt can still be settled with its own key.
      const signal = this.#maySettleDoubt(request) ? stop : this.#host.halted;
      if (signal?.aborted || !table.isOpen(request)) return false;
      const taken = await pace.take('sending', signal, timeLeft(since, maxWait, now()));
      if (this.#host.stopped !== null && !this.#maySettleDoubt(request)) return false;
      if (taken) return true;
      if (signal?.aborted) continue;
      this.#host.halt({ by: 'service', code: 'rate_limited', status: 429 });
      return false;
    }
  }

  #maySettleDoubt(request: number): boolean {
    const { table, stop } = this.#options;
    return isOutOfMoney(this.#host.stopped) && table.phase(request) === 'doubt' && !stop?.aborted;
  }

  /** Null when the answer was not waited for. */
  async #send(body: RequestBody): Promise<Answer | null> {
    const { client, plan, abandon, isReplay = () => false } = this.#options;
    const send = () => sendOnce(client, plan.meta.channel, body, isReplay);
    const answer = await unlessAborted(send, abandon);
    if (answer?.kind !== 'refusal' || answer.code !== 'insufficient_credits') return answer;
    return { ...answer, actual: await this.#readBalance() };
  }

  async #readBalance(): Promise<number | null> {
    const { client, pace, stop, maxWait } = this.#options;
    try {
      return (await pace.take('reading', stop, maxWait)) ? (await client.balance.get()).balance : null;
    } catch {
      // Without it the refusal is taken at its word.
      return null;
    }
  }

  /** Records a step and does what it asks; true when the request is to be sent again now. */
  async #follow(attempt: Attempt, step: Step): Promise<boolean> {
    const { progress } = this.#host;
    const { number } = attempt.request;
    const revision = this.#options.table.revision(number);
    switch (step.to) {
      case 'accepted':
        return this.#accept(attempt, step, []);
      case 'compared':
        return this.#compare(attempt, step);
      case 'removed': {
        const indexes = step.positions.map((position) => attempt.body.indexes[position] ?? 0);
        await progress.record(['removed', number, revision, indexes]);
        progress.emit({ type: 'removed', request: number, entries: indexes.length });
        return true;
      }
      case 'revised':
        if (!this.#isInTime(attempt, 0)) {
          await this.#refused(attempt, step.code);
          return this.#giveUp(attempt, step.code, statusOf[step.code]);
        }
        await progress.record(['revised', number, revision]);
        return true;
      case 'again':
        return this.#backOff(attempt, step.code, null);
      case 'unsent':
        await this.#refused(attempt, step.code);
        return this.#backOff(attempt, step.code, null);
      case 'repeat':
        await this.#refused(attempt, 'insufficient_credits');
        return this.#backOff(attempt, 'insufficient_credits', 402);
      case 'wait':
        return this.#wait(attempt, step);
      case 'stop':
        await this.#refused(attempt, step.code);
        return this.#stopAt(attempt, step.code, step.status);
      default: {
        const settled = settledBy(attempt, revision, step);
        if (settled === null) return false;
        await progress.record(settled.entry);
        progress.emit(settled.event);
        if (step.to === 'alarm' && step.stops) this.#host.halt({ by: 'alarm', reason: step.reason });
        return false;
      }
    }
  }

  async #accept(
    attempt: Attempt,
    step: StepTo<'accepted' | 'compared'>,
    more: readonly RequestEntry[],
  ): Promise<boolean> {
    const { table } = this.#options;
    const { progress, budget } = this.#host;
    const { request } = attempt;
    const isBatch = request.kind === 'batch';
    const other = isBatch ? (table.requestOfBatch(step.id) ?? this.#answered.get(step.id)) : undefined;
    if (other !== undefined && other !== request.number) {
      const reason = `batch ${step.id} is the answer to two requests, ${other} and ${request.number}`;
      return this.#follow(attempt, { to: 'alarm', reason, stops: true });
    }
    if (isBatch) this.#answered.set(step.id, request.number);
    await progress.record(acceptedEntry(attempt, table.revision(request.number), step), ...more);
    this.#answered.delete(step.id);
    this.#host.accepted(request, step.id);
    progress.emit({ type: 'accepted', request: request.number, detail: step.id });
    // Another body has another price.
    const isDearer =
      step.to === 'accepted' && budget.learn(request, table.removed(request.number).size, step.credits);
    if (isDearer) await this.#host.readPrices();
    return false;
  }

  /** The batch is not of this body: its messages say who was sent to, and else its figures. */
  async #compare(attempt: Attempt, step: StepTo<'compared'>): Promise<boolean> {
    const { table, maxWait, now, abandon } = this.#options;
    const { body, request, since } = attempt;
    const [number, revision] = [request.number, table.revision(request.number)];
    const until = (since ?? now()) + maxWait;
    const read = () => membersOf(step.id, step.total, until, this.#options);
    const members = await unlessAborted(read, abandon);
    if (members === null || members === 'not now') {
      // The same key gives the same answer in the next run.
      this.#host.progress.doubt(number);
      return this.#giveUp(attempt, 'unexpected_response', null);
    }
    if (members === 'not listed') {
      const unsure = Math.min(body.to.length, Math.abs(step.total - body.to.length));
      return this.#accept(attempt, step, [['unsure', number, revision, unsure]]);
    }
    const absent = body.indexes.filter((_, at) => !members.has(recipientForm(body.to[at] ?? '')));
    return this.#accept(attempt, step, absent.length > 0 ? [['absent', number, revision, absent]] : []);
  }

  /** The request is free to be sent later, unless a copy under its key is unanswered: that keeps it in doubt. */
  async #refused({ request, sent }: Attempt, code: string): Promise<void> {
    const { number } = request;
    if (sent.unanswered > 0) return this.#host.progress.doubt(number);
    await this.#host.progress.record(['refused', number, this.#options.table.revision(number), code, 0]);
  }

  async #wait(attempt: Attempt, step: StepTo<'wait'>): Promise<boolean> {
    const { now, pace, random } = this.#options;
    const { progress } = this.#host;
    const { number } = attempt.request;
    const milliseconds = step.seconds === null ? backoff(attempt.tries, random()) : step.seconds * 1_000;
    const why = step.for === 'project' ? 'rate_limited' : 'recipient_rate_limited';
    await this.#refused(attempt, why);
    const isInTime = this.#isInTime(attempt, milliseconds);
    if (step.for === 'project') {
      if (!isInTime) return this.#stopAt(attempt, why, 429);
      pace.block('sending', milliseconds);
      progress.emit({ type: 'waiting', request: number, why, milliseconds });
      return true;
    }
    if (isInTime) {
      this.#host.setAside({ request: number, since: attempt.since ?? now(), due: now() + milliseconds });
      progress.emit({ type: 'waiting', request: number, why, milliseconds });
    } else {
      progress.emit({ type: 'left', request: number, why });
    }
    return false;
  }

  /** Whether `--max-wait` leaves room for such a wait; it counts from the first try, whatever the revision. */
  #isInTime({ since }: Attempt, milliseconds: number): boolean {
    const { now, maxWait } = this.#options;
    return now() + milliseconds - (since ?? now()) <= maxWait;
  }

  /** Waits before the same key is tried again; false when its time is up. */
  async #backOff(attempt: Attempt, code: string, status: number | null): Promise<boolean> {
    const { maxWait, random } = this.#options;
    const milliseconds = backoff(attempt.tries, random());
    const enoughTries = attempt.tries >= (maxWait === 0 ? 1 : 3);
    if (enoughTries && !this.#isInTime(attempt, milliseconds)) return this.#giveUp(attempt, code, status);
    this.#host.progress.emit({ type: 'waiting', request: attempt.request.number, why: code, milliseconds });
    await this.#sleep(milliseconds);
    return true;
  }

  #giveUp(attempt: Attempt, code: string, status: number | null): boolean {
    const { since, request } = attempt;
    // When others were accepted meanwhile it is this request; when none was, the service is away.
    if (this.#host.lastAccepted < (since ?? 0)) return this.#stopAt(attempt, code, status);
    this.#host.progress.emit({ type: 'left', request: request.number, why: code });
    return false;
  }

  #stopAt({ request }: Attempt, code: string, status: number | null): boolean {
    this.#host.progress.emit({ type: 'left', request: request.number, why: code });
    this.#host.halt({ by: 'service', code, status });
    return false;
  }

  #sleep(milliseconds: number): Promise<void> {
    const { halted, stopped } = this.#host;
    return this.#options.sleep(Math.max(0, milliseconds), stopped === null ? halted : this.#options.stop);
  }
}

const statusOf = { insufficient_credits: 402, invalid_request: null } as const;

/** What stops a job but lets what is in doubt be settled: it may have been paid for. */
export function isOutOfMoney(stopped: Ending['stopped']): boolean {
  return stopped?.by === 'limit' || (stopped?.by === 'service' && stopped.code === 'insufficient_credits');
}
