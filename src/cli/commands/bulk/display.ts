import type { BulkEvent } from '../../bulk/send/events.js';
import type { Context } from '../../context.js';
import { counted, duration, grouped } from '../../wording.js';
import { alarmText } from './outcome.js';

/** Shows the events of a job, and gives its result. */
export async function display<Result>(
  context: Pick<Context, 'io' | 'clock'>,
  events: AsyncGenerator<BulkEvent, Result>,
): Promise<Result> {
  const progress = context.io.progress();
  let view: Phase | null = null;
  try {
    for (;;) {
      const { value: event, done } = await events.next();
      if (done) return event;
      warn(context, event);
      const now = context.clock.elapsed();
      if (view === null) view = sending(event, now);
      if (event.type === 'polling') view = polling(event, now);
      const { words, part } = view(event, now);
      progress.update(words, part);
    }
  } finally {
    progress.stop();
  }
}

/** The words for an event, the most important first: a narrow terminal leaves out the last. */
type Phase = (event: BulkEvent, now: number) => { words: string[]; part: { done: number; total: number } };

const settledOf = ({ tally }: BulkEvent) => tally.accepted + tally.rejected + tally.failed;

function sending(first: BulkEvent, since: number): Phase {
  return (event, now) => {
    const { tally, open, credits } = event;
    const speed = speedOf(settledOf(event) - settledOf(first), now - since);
    const words = [
      `${grouped(tally.accepted)} of ${grouped(tally.planned)} accepted`,
      `${grouped(tally.rejected + tally.failed)} failed`,
      ...(tally.in_doubt > 0 ? [`${grouped(tally.in_doubt)} in doubt`] : []),
      ...(event.type === 'waiting'
        ? [`waiting ${duration(event.milliseconds / 1_000)}: ${event.why}`]
        : // The rate limit counts requests, whatever the number of recipients in each.
          timeLeft(open, speedOf(first.open - open, now - since))),
      ...(speed >= 1 ? [`${grouped(Math.round(speed))}/s`] : []),
      counted(credits, 'credit'),
    ];
    return { words, part: { done: settledOf(event), total: tally.planned } };
  };
}

function polling(first: BulkEvent, since: number): Phase {
  const finalOf = ({ sent, tally }: BulkEvent) => sent + tally.failed;
  return (event, now) => {
    const { tally, sent } = event;
    // Failed messages of a batch count as accepted until its final figures are known.
    const part = { done: finalOf(event), total: tally.accepted + tally.failed };
    const words = [
      `${grouped(sent)} of ${grouped(part.total)} sent`,
      `${grouped(tally.failed)} failed`,
      ...timeLeft(part.total - part.done, speedOf(part.done - finalOf(first), now - since)),
    ];
    return { words, part };
  };
}

const speedOf = (done: number, milliseconds: number) => (done * 1_000) / Math.max(1, milliseconds);

function timeLeft(left: number, speed: number): string[] {
  return speed >= 0.1 && left > 0 ? [`${duration(left / speed)} left`] : [];
}

/** Events that a progress bar would hide. */
function warn({ io }: Pick<Context, 'io'>, event: BulkEvent): void {
  if (event.type === 'alarm') io.warn(alarmText(event.request, event.detail));
  if (event.type === 'stopping' && event.why === 'signal')
    io.warn('stopping: finishing the requests in flight');
}
