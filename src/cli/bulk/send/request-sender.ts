import { normalizeRecipient } from '../../../contract/index.js';
import { backoff, timeLeft } from '../../time/retry-delay.js';
import { unlessAborted } from '../../time/unless-aborted.js';
import type { RequestEntry } from '../job/journal/entries.js';
import { type RequestKey, requestKeys } from '../job/keys.js';
import type { PlannedRequest } from '../plan/plan.js';
import type { Answer } from './answer.js';
import { type Attempt, acceptedEntry, endedBy, learnBalance, startAttempt } from './attempt.js';
import { recipientsOfBatch } from './batch-recipients.js';
import { isOutOfMoney, opensAt, type ServiceStop } from './ending.js';
import type { RequestBody } from './request-body.js';
import type { Run, RunOptions } from './run.js';
import { sendOnce } from './send-once.js';
import { nextStep, type Step, type StepOf } from './transitions.js';

/** Repeating does not change a redirect, however long the wait. */
const mostRedirects = 3;

const statusOf = { insufficient_credits: 402, invalid_request: null } as const;

/** Sends single requests of a run until each one has ended, following only the steps of `nextStep`. */
export class RequestSender {
  readonly #options: RunOptions;
  readonly #run: Run;
  readonly #keyOf: RequestKey;
  /** Requests by their batch, while its acceptance is being recorded. */
  readonly #accepting = new Map<string, number>();

  constructor(options: RunOptions, run: Run) {
    this.#options = options;
    this.#run = run;
    this.#keyOf = requestKeys(options.jobId, options.plan.meta);
  }

  /**
   * Sends until an answer ends the request, its time is up, or the run stops. `since`: its first attempt in this run.
   */
  async send(request: PlannedRequest, since: number | null): Promise<void> {
    const { state, journal, now } = this.#options;
    const { recorder, spendLimit } = this.#run;
    const { number } = request;
    let attempt = startAttempt(this.#keyOf, request, state, { since });
    while (await this.#awaitToken(number, attempt.since)) {
      attempt.since ??= now();
      if (state.phase(number) !== 'doubt') {
        if (!spendLimit.tryReserve(request, state.removed(number).size)) {
          const next = spendLimit.priceOf(request, state.removed(number).size);
          return this.#run.halt({ by: 'limit', ...next });
        }
        await recorder.record({
          type: 'send',
          request: number,
          revision: state.revision(number),
          recipients: attempt.body.to.length,
        });
      }
      if (journal.fault !== null) throw journal.fault;
      const answer = await this.#exchange(attempt.body);
      if (answer === null || answer.kind === 'doubt') recorder.markInDoubt(number);
      if (answer === null) return;
      attempt.tries += 1;
      const step = nextStep(attempt.facts, answer);
      if (answer.kind === 'doubt') attempt.facts.unanswered += 1;
      learnBalance(attempt, state, answer);
      if (!(await this.#follow(step, attempt))) return;
      if (step.kind === 'remove') {
        attempt = startAttempt(this.#keyOf, request, state, { since: attempt.since });
      }
      if (step.kind === 'revise') {
        const { since, tries, facts } = attempt;
        const foreignRefusals = facts.foreignRefusals + 1;
        attempt = startAttempt(this.#keyOf, request, state, { since, tries, foreignRefusals });
      }
    }
  }

  /** Waits for a token; false if the request has ended or nothing more is sent. */
  async #awaitToken(request: number, since: number | null): Promise<boolean> {
    const { rateLimiter, stop, state, maxWait, now } = this.#options;
    for (;;) {
      // Without credits for anything new, a doubt can still be resolved with its own key.
      const signal = this.#mayResolveDoubt(request) ? stop : this.#run.halted;
      if (signal?.aborted || !state.isOpen(request)) return false;
      const taken = await rateLimiter.take('sending', signal, timeLeft(since, maxWait, now()));
      if (this.#run.stopped !== null && !this.#mayResolveDoubt(request)) return false;
      if (taken) return true;
      if (signal?.aborted) continue;
      this.#run.halt({ by: 'service', code: 'rate_limited', status: 429 });
      return false;
    }
  }

  #mayResolveDoubt(request: number): boolean {
    const { state, stop } = this.#options;
    return isOutOfMoney(this.#run.stopped) && state.phase(request) === 'doubt' && !stop?.aborted;
  }

  /** One attempt; null if it was abandoned. */
  async #exchange(body: RequestBody): Promise<Answer | null> {
    const { client, plan, abandon, isReplay = () => false } = this.#options;
    const send = () => sendOnce(client, plan.meta.channel, body, isReplay);
    const answer = await unlessAborted(send, abandon);
    if (answer?.kind !== 'refusal' || answer.code !== 'insufficient_credits') return answer;
    return { ...answer, actual: await this.#readBalance() };
  }

  async #readBalance(): Promise<number | null> {
    const { client, rateLimiter, stop, maxWait } = this.#options;
    try {
      return (await rateLimiter.take('reading', stop, maxWait)) ? (await client.balance.get()).balance : null;
    } catch {
      // If the balance cannot be read, the refusal counts as it is.
      return null;
    }
  }

  /** Records a step and follows it; true if the request should be sent again now. */
  async #follow(step: Step, attempt: Attempt): Promise<boolean> {
    const { recorder } = this.#run;
    const { number: request } = attempt.request;
    const revision = this.#options.state.revision(request);
    switch (step.kind) {
      case 'accept':
        return this.#accept(attempt, step, []);
      case 'compare':
        return this.#compare(attempt, step);
      case 'remove': {
        const { indexes } = attempt.body;
        const removed = step.positions.map((position) => indexes[position] ?? 0);
        await recorder.record({ type: 'removed', request, revision, indexes: removed });
        recorder.emit({ type: 'removed', request, entries: removed.length });
        return true;
      }
      case 'revise':
        if (!this.#isInTime(attempt, 0)) {
          await this.#refused(attempt, step.code);
          return this.#giveUp(attempt, step.code, statusOf[step.code]);
        }
        await recorder.record({ type: 'revised', request, revision });
        return true;
      case 'retry-in-doubt':
        if (step.redirect !== undefined) attempt.redirects += 1;
        if (attempt.redirects === mostRedirects)
          return this.#stopAt(attempt, { code: step.code, status: null, detail: step.redirect });
        return this.#backOff(attempt, step.code, null);
      case 'retry-unsent':
        await this.#refused(attempt, step.code);
        return this.#backOff(attempt, step.code, null, step.detail);
      case 'retry-refused':
        await this.#refused(attempt, step.code);
        return this.#backOff(attempt, step.code, statusOf[step.code]);
      case 'wait-for-project':
        return this.#waitForProject(attempt, step.seconds);
      case 'wait-for-recipient':
        return this.#waitForRecipient(attempt, step.seconds);
      case 'stop':
        await this.#refused(attempt, step.code);
        return this.#stopAt(attempt, { code: step.code, status: step.status });
      default: {
        const ended = endedBy(attempt, revision, step);
        if (ended === null) return false;
        await recorder.record(ended.entry);
        recorder.emit(ended.event);
        if (step.kind === 'alarm' && step.stops) this.#run.halt({ by: 'alarm', reason: step.reason });
        return false;
      }
    }
  }

  async #accept(
    attempt: Attempt,
    step: StepOf<'accept' | 'compare'>,
    more: readonly RequestEntry[],
  ): Promise<boolean> {
    const { state } = this.#options;
    const { recorder, spendLimit } = this.#run;
    const { request } = attempt;
    const isBatch = request.kind === 'batch';
    const other = isBatch ? (state.requestOfBatch(step.id) ?? this.#accepting.get(step.id)) : undefined;
    if (other !== undefined && other !== request.number) {
      const reason = `batch ${step.id} answers two requests, ${other} and ${request.number}`;
      return this.#follow({ kind: 'alarm', reason, stops: true }, attempt);
    }
    if (isBatch) this.#accepting.set(step.id, request.number);
    await recorder.record(acceptedEntry(attempt, state.revision(request.number), step), ...more);
    this.#accepting.delete(step.id);
    this.#run.accepted(request, step.id);
    recorder.emit({ type: 'accepted', request: request.number, detail: step.id });
    // The price of an earlier result is not the price of this body.
    const isHigher =
      step.kind === 'accept' &&
      spendLimit.learnCharge(request, state.removed(request.number).size, step.credits);
    if (isHigher) await this.#run.readPrices();
    return false;
  }

  /**
   * The batch has a different body: its messages show which recipients were sent to; without them, its figures count.
   */
  async #compare(attempt: Attempt, step: StepOf<'compare'>): Promise<boolean> {
    const { state, maxWait, now, abandon } = this.#options;
    const { body, request, since } = attempt;
    const { number } = request;
    const revision = state.revision(number);
    const left = timeLeft(since, maxWait, now());
    const read = () => recipientsOfBatch(step.id, step.total, left, this.#options);
    const recipients = await unlessAborted(read, abandon);
    if (recipients === null || recipients === 'not now') {
      // The same key will return the same answer in the next run.
      this.#run.recorder.markInDoubt(number);
      return this.#giveUp(attempt, 'unexpected_response', null);
    }
    if (recipients === 'not listed') {
      const unsure = Math.min(body.to.length, Math.abs(step.total - body.to.length));
      return this.#accept(attempt, step, [{ type: 'unsure', request: number, revision, recipients: unsure }]);
    }
    const { to, indexes } = body;
    const absent = indexes.filter((_, at) => !recipients.has(normalizeRecipient(to[at] ?? '')));
    const entry = { type: 'absent', request: number, revision, indexes: absent } as const;
    return this.#accept(attempt, step, absent.length > 0 ? [entry] : []);
  }

  /** It may be sent later; an unanswered copy under its key keeps it in doubt. */
  async #refused({ request, facts }: Attempt, code: string): Promise<void> {
    const { number } = request;
    if (facts.unanswered > 0) return this.#run.recorder.markInDoubt(number);
    const revision = this.#options.state.revision(number);
    await this.#run.recorder.record({ type: 'refused', request: number, revision, code, unanswered: 0 });
  }

  async #waitForProject(attempt: Attempt, seconds: number | null): Promise<boolean> {
    const code = 'rate_limited';
    const milliseconds = this.#waitOf(attempt, seconds);
    await this.#refused(attempt, code);
    const opens = opensAt(this.#options.wallTime(), milliseconds);
    if (!this.#isInTime(attempt, milliseconds)) return this.#stopAt(attempt, { code, status: 429, opens });
    this.#options.rateLimiter.block('sending', milliseconds);
    const { number: request } = attempt.request;
    this.#run.recorder.emit({ type: 'waiting', request, why: code, milliseconds });
    return true;
  }

  async #waitForRecipient(attempt: Attempt, seconds: number | null): Promise<boolean> {
    const { now } = this.#options;
    const { recorder } = this.#run;
    const { number: request } = attempt.request;
    const why = 'recipient_rate_limited';
    const milliseconds = this.#waitOf(attempt, seconds);
    await this.#refused(attempt, why);
    if (this.#isInTime(attempt, milliseconds)) {
      this.#run.postpone({ request, since: attempt.since ?? now(), due: now() + milliseconds });
      recorder.emit({ type: 'waiting', request, why, milliseconds });
    } else {
      recorder.emit({ type: 'given-up', request, why });
    }
    return false;
  }

  #waitOf({ tries }: Attempt, seconds: number | null): number {
    return seconds === null ? backoff(tries, this.#options.random()) : seconds * 1_000;
  }

  /** Whether `--max-wait`, counted from the first attempt in any revision, allows such a wait. */
  #isInTime({ since }: Attempt, milliseconds: number): boolean {
    const { now, maxWait } = this.#options;
    return now() + milliseconds - (since ?? now()) <= maxWait;
  }

  /** Waits before the same key is tried again; false if its time is up. */
  async #backOff(attempt: Attempt, code: string, status: number | null, detail?: string): Promise<boolean> {
    const { maxWait, random } = this.#options;
    const milliseconds = backoff(attempt.tries, random());
    const enoughTries = attempt.tries >= (maxWait === 0 ? 1 : 3);
    if (enoughTries && !this.#isInTime(attempt, milliseconds))
      return this.#giveUp(attempt, code, status, detail);
    this.#run.recorder.emit({ type: 'waiting', request: attempt.request.number, why: code, milliseconds });
    await this.#sleep(milliseconds);
    return true;
  }

  #giveUp(attempt: Attempt, code: string, status: number | null, detail?: string): boolean {
    const { since, request } = attempt;
    // If others were accepted meanwhile, this request is the problem; if none was, the service is.
    if (this.#run.lastAccepted < (since ?? 0)) return this.#stopAt(attempt, { code, status, detail });
    this.#run.recorder.emit({ type: 'given-up', request: request.number, why: code });
    return false;
  }

  #stopAt({ request }: Attempt, refusal: Omit<ServiceStop, 'by'>): boolean {
    this.#run.recorder.emit({ type: 'given-up', request: request.number, why: refusal.code });
    this.#run.halt({ by: 'service', ...refusal });
    return false;
  }

  #sleep(milliseconds: number): Promise<void> {
    const { halted, stopped } = this.#run;
    return this.#options.sleep(Math.max(0, milliseconds), stopped === null ? halted : this.#options.stop);
  }
}
