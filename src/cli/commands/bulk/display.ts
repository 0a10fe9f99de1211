import { answeredIn, type Counts } from '../../bulk/job/counts.js';
import type { BulkEvent } from '../../bulk/send/events.js';
import type { Context } from '../../context.js';
import { localTime } from '../../output/cells.js';
import { counted, duration, grouped } from '../../text/wording.js';

interface DisplayOptions {
  /** Whether to wait until every message is sent or failed. */
  waits: boolean;
  /** Called with the earliest time, in milliseconds since 1970, at which the job can end. */
  waitsUntil(time: number): Promise<void>;
}

/** Shows a job's events in one line, and returns its result. */
export async function display<Result>(
  context: Pick<Context, 'io' | 'clock'>,
  events: AsyncGenerator<BulkEvent, Result>,
  { waits, waitsUntil }: DisplayOptions,
): Promise<Result> {
  const progress = context.io.progress();
  const since = context.clock.elapsed();
  const pauses = new Pauses();
  let first: BulkEvent | null = null;
  try {
    for (;;) {
      const { value: event, done } = await events.next();
      if (done) return event;
      first ??= event;
      warn(context, event);
      const now = context.clock.now();
      const wasIdle = pauses.isIdle;
      pauses.follow(event, now);
      if (event.type === 'waiting') await waitsUntil(pauses.until);
      const milliseconds = context.clock.elapsed() - since;
      const speed = (figure: (event: BulkEvent) => number) =>
        speedOf(figure(event) - figure(first as BulkEvent), milliseconds);
      const part = partOf(event.counts, waits);
      // The rate limit counts requests, however many recipients they have.
      const estimate = waits
        ? (part.total - part.done) / speed(({ counts }) => partOf(counts, true).done)
        : event.open / speed(({ open }) => -open);
      const wait = pauses.until - now;
      // A job that is stopping does not send the rest.
      const secondsLeft = pauses.isStopping ? null : Math.max(estimate, wait / 1_000);
      const rate = speed(({ counts }) => answeredIn(counts));
      const words = progressWords(event, { waits, waiting: pauses.words(event), secondsLeft, rate });
      progress.update(words, part, pauses.isIdle && !wasIdle ? wait : 0);
    }
  } finally {
    progress.stop();
  }
}

const overCap = 'recipient_rate_limited';

const waitReasons: Readonly<Record<string, string>> = {
  connection_error: 'service unreachable',
  timeout: 'no answer from the service',
  unavailable: 'service unavailable',
  rate_limited: 'rate limit reached',
  [overCap]: 'recipient over its cap',
};

/** A shorter wait is not worth a word, in milliseconds. */
const worthSaying = 1_000;

/** The waits of a running job. Times are milliseconds since 1970. */
export class Pauses {
  /** When the last wait ends: the job takes at least as long. */
  until = Number.NEGATIVE_INFINITY;
  /** Whether it has stopped sending. */
  isStopping = false;
  /** Whether it only waits for recipients over their cap. */
  isIdle = false;
  /** Single sends over their recipient's cap. */
  readonly #capped = new Set<number>();

  /** Takes an event when it happens. */
  follow(event: BulkEvent, now: number): void {
    if (event.type === 'stopping') this.isStopping = true;
    if ('request' in event) this.#capped.delete(event.request);
    if (event.type === 'waiting') {
      this.until = Math.max(this.until, now + event.milliseconds);
      if (event.why === overCap) this.#capped.add(event.request);
    }
    if (this.isStopping) this.until = Number.NEGATIVE_INFINITY;
    const { size } = this.#capped;
    this.isIdle = size > 0 && event.open <= size && this.until - now >= worthSaying;
  }

  /** `3 recipients over the cap until 2026-11-21 08:25:00`, `service unreachable, next try in 4 s`; null for no wait. */
  words(event: BulkEvent): string | null {
    if (this.isIdle) {
      const until = localTime(new Date(this.until).toISOString());
      return `${counted(this.#capped.size, 'recipient')} over the cap until ${until}`;
    }
    if (event.type !== 'waiting') return null;
    const { why, milliseconds } = event;
    return `${waitReasons[why] ?? why}, next try in ${duration(milliseconds / 1_000)}`;
  }
}

interface ProgressState {
  waits: boolean;
  /** Replaces the time left. */
  waiting?: string | null;
  secondsLeft: number | null;
  /** Recipients a second. */
  rate: number | null;
}

/** Most important first: a narrow terminal omits the last ones. */
export function progressWords(
  { counts, credits }: Pick<BulkEvent, 'counts' | 'credits'>,
  { waits, waiting = null, secondsLeft, rate }: ProgressState,
): string[] {
  const { accepted, planned, sent, unknown, rejected, failed, suppressed, in_doubt } = counts;
  const unsent = [`${grouped(rejected + failed)} failed`];
  const hasFailed = rejected + failed > 0;
  // The first is the one that the bar shows.
  return [
    waits
      ? `${grouped(sent)} of ${grouped(planned)} sent`
      : `${grouped(accepted)} of ${grouped(planned)} accepted`,
    ...(hasFailed ? unsent : []),
    ...(in_doubt > 0 ? [`${grouped(in_doubt)} in doubt`] : []),
    ...(unknown > 0 ? [`${grouped(unknown)} unknown`] : []),
    ...(suppressed > 0 ? [`${grouped(suppressed)} suppressed`] : []),
    ...(waits ? [`${grouped(accepted)} accepted`] : []),
    ...(hasFailed ? [] : unsent),
    ...(waiting === null ? timeLeft(secondsLeft) : [waiting]),
    ...(rate !== null && rate >= 1 ? [`${grouped(Math.round(rate))}/s`] : []),
    counted(credits, 'credit'),
  ];
}

/** With `waits`, only final messages count. */
export function partOf(counts: Counts, waits: boolean) {
  return { done: answeredIn(counts) - (waits ? counts.queued : 0), total: counts.planned };
}

const speedOf = (done: number, milliseconds: number) => (done * 1_000) / Math.max(1, milliseconds);

const mostSeconds = 30 * 86_400;

/** Empty if it is over or unknown. */
function timeLeft(seconds: number | null): string[] {
  return seconds !== null && seconds > 0 && seconds < mostSeconds ? [`${duration(seconds)} left`] : [];
}

const stopWords: Readonly<Record<string, string>> = { signal: 'stopping', cancel: 'cancelled' };

/** The warning about an answer that belongs to another request. */
export const alarmText = (request: number, reason: string): string =>
  `request ${request}: ${reason}; it is counted as in doubt`;

/** Warns of events that a progress bar would hide. */
function warn({ io }: Pick<Context, 'io'>, event: BulkEvent): void {
  if (event.type === 'alarm') {
    const { request, detail, mixUp } = event;
    const shown = (to: string) => io.printer.recipient(to);
    const whom = mixUp === undefined ? '' : `: ${shown(mixUp.to)}, not ${shown(mixUp.wanted)}`;
    io.warn(alarmText(request, detail + whom));
  }
  const stopping = event.type === 'stopping' ? stopWords[event.why] : undefined;
  if (stopping !== undefined) io.warn(`${stopping}: finishing the requests in flight`);
}
