import type { BulkEvent } from '../../bulk/send/events.js';
import type { Context } from '../../context.js';
import { counted, duration, grouped } from '../../wording.js';

/** Shows a job's events as they come, and gives what the job returns. */
export async function display<Result>(
  context: Context,
  events: AsyncGenerator<BulkEvent, Result>,
): Promise<Result> {
  const progress = context.io.progress();
  let view: Phase | null = null;
  try {
    for (;;) {
      const { value: event, done } = await events.next();
      if (done) return event;
      tell(context, event);
      const now = context.clock.elapsed();
      if (view === null) view = sending(event, now);
      if (event.type === 'awaiting') view = awaiting(event, now);
      const { words, part } = view(event, now);
      progress.update(words, part);
    }
  } finally {
    progress.stop();
  }
}

/** What is shown of an event; the most important words first: a narrow terminal leaves out the last ones. */
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
        : // The allowance is one of requests, whatever the number of recipients in each.
          timeLeft(open, speedOf(first.open - open, now - since))),
      ...(speed >= 1 ? [`${grouped(Math.round(speed))}/s`] : []),
      counted(credits, 'credit'),
    ];
    return { words, part: { done: settledOf(event), total: tally.planned } };
  };
}

function awaiting(first: BulkEvent, since: number): Phase {
  const endsOf = ({ sent, tally }: BulkEvent) => sent + tally.failed;
  return (event, now) => {
    const { tally, sent } = event;
    // A batch's failed messages count as accepted until its end is known.
    const part = { done: endsOf(event), total: tally.accepted + tally.failed };
    const words = [
      `${grouped(sent)} of ${grouped(part.total)} sent`,
      `${grouped(tally.failed)} failed`,
      ...timeLeft(part.total - part.done, speedOf(part.done - endsOf(first), now - since)),
    ];
    return { words, part };
  };
}

const speedOf = (done: number, milliseconds: number) => (done * 1_000) / Math.max(1, milliseconds);

function timeLeft(left: number, speed: number): string[] {
  return speed >= 0.1 && left > 0 ? [`${duration(left / speed)} left`] : [];
}

/** What a person should know at once. */
function tell(context: Context, event: BulkEvent): void {
  if (event.type === 'alarm')
    context.io.warn(`request ${event.request}: ${event.detail}; it is counted as in doubt`);
  if (event.type === 'stopping' && event.why === 'signal')
    context.io.warn('stopping: finishing what is in flight');
}
