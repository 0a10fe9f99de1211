import { answeredIn, type Counts } from '../../bulk/job/counts.js';
import type { BulkEvent } from '../../bulk/send/events.js';
import type { Context } from '../../context.js';
import { counted, duration, grouped } from '../../text/wording.js';
import { Waits, waitWords } from './waits.js';

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
  const announced = new Waits();
  let first: BulkEvent | null = null;
  let wasIdle = false;
  try {
    for (;;) {
      const { value: event, done } = await events.next();
      if (done) return event;
      first ??= event;
      warn(context, event);
      const now = context.clock.now();
      announced.follow(event, now);
      const wait = announced.until - now;
      if (event.type === 'waiting') await waitsUntil(announced.until);
      const milliseconds = context.clock.elapsed() - since;
      const speed = (figure: (event: BulkEvent) => number) =>
        speedOf(figure(event) - figure(first as BulkEvent), milliseconds);
      const part = partOf(event.counts, waits);
      // The rate limit counts requests, however many recipients they have.
      const estimate = waits
        ? (part.total - part.done) / speed(({ counts }) => partOf(counts, true).done)
        : event.open / speed(({ open }) => -open);
      // A job that is stopping does not send the rest.
      const secondsLeft = announced.isStopping ? null : Math.max(estimate, wait / 1_000);
      const isIdle = announced.isIdle(event, now);
      const waiting = isIdle ? announced.words(now) : event.type === 'waiting' ? [waitWords(event)] : null;
      const rate = speed(({ counts }) => answeredIn(counts));
      const words = progressWords(event, { waits, waiting, secondsLeft, rate });
      progress.update(words, part, isIdle && !wasIdle ? wait : 0);
      wasIdle = isIdle;
    }
  } finally {
    progress.stop();
  }
}

interface ProgressState {
  waits: boolean;
  /** Replaces the time left. */
  waiting?: readonly string[] | null;
  secondsLeft: number | null;
  /** Recipients a second. */
  rate: number | null;
}

/** Most important first: a narrow terminal omits the last ones. */
export function progressWords(
  { counts, credits }: Pick<BulkEvent, 'counts' | 'credits'>,
  { waits, waiting = null, secondsLeft, rate }: ProgressState,
): string[] {
  const { accepted, planned, sent, unknown, rejected, failed, in_doubt } = counts;
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
    ...(waits ? [`${grouped(accepted)} accepted`] : []),
    ...(hasFailed ? [] : unsent),
    ...(waiting === null ? timeLeft(secondsLeft) : waiting),
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
