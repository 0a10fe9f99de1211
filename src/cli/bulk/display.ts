import type { Context } from '../context.js';
import type { Tally } from './chunk-table.js';
import type { BulkEvent } from './events.js';
import { duration } from './preflight.js';

/** Shows a job's events as they come, and gives what the job returns. */
export async function display<Result>(
  context: Context,
  doing: 'sending' | 'waiting',
  events: AsyncGenerator<BulkEvent, Result>,
): Promise<Result> {
  const progress = context.progress();
  const started = context.clock.now();
  let first: number | null = null;
  let finals = 0;
  try {
    for (;;) {
      const { value, done } = await events.next();
      if (done) return value;
      tell(context, value);
      const { tally } = value;
      if (value.type === 'final') finals += value.sent + value.failed;
      const settled = doing === 'waiting' ? finals : tally.accepted + tally.rejected + tally.failed;
      first ??= settled;
      const total = doing === 'waiting' ? tally.accepted + tally.failed : tally.planned;
      const rate = ((settled - first) * 1_000) / Math.max(1, context.clock.now() - started);
      progress.update(textOf(doing, value, rate, total - settled), { done: settled, total });
    }
  } finally {
    progress.stop();
  }
}

/** What a person should know at once. */
function tell(context: Context, event: BulkEvent): void {
  if (event.type === 'alarm')
    context.warn(`request ${event.chunk}: ${event.detail}; it is counted as in doubt`);
  if (event.type === 'stopping' && event.why === 'signal')
    context.warn('stopping: finishing what is in flight');
}

function textOf(doing: string, event: BulkEvent, rate: number, left: number): string {
  const { tally, credits } = event;
  const words =
    doing === 'waiting'
      ? [`${tally.failed} failed`]
      : [...figures(tally), `${credits} credits`, ...(rate >= 0.1 ? [`${rate.toFixed(1)}/s`] : [])];
  if (rate >= 0.1 && left > 0) words.push(`${duration(left / rate)} left`);
  if (event.type === 'waiting') words.push(`waiting ${duration(event.milliseconds / 1_000)}: ${event.why}`);
  return words.join(', ');
}

function figures({ accepted, rejected, failed, in_doubt }: Tally): string[] {
  return [
    `${accepted} accepted`,
    `${rejected + failed} failed`,
    ...(in_doubt > 0 ? [`${in_doubt} in doubt`] : []),
  ];
}
