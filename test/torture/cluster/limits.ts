import { requestRates } from '../../../src/contract/index.js';

/** A request that took a token of its project's bucket, at a moment in between (milliseconds of one clock). */
export interface Admitted {
  project: number;
  from: number;
  to: number;
}

/**
 * Requests above the rate: in every span of time no more than a burst and what comes in at the rate, and another burst
 * for each crash of PostgreSQL in it.
 */
export function overRate(admitted: readonly Admitted[], crashes: readonly number[]): number {
  const { perSecond, burst } = requestRates.sending;
  let worst = 0;
  for (const project of new Set(admitted.map((one) => one.project))) {
    const requests = admitted.filter((one) => one.project === project);
    const byEnd = requests.toSorted((one, other) => one.to - other.to);
    for (const { from: start } of requests) {
      let count = 0;
      for (const { from, to: end } of byEnd) {
        if (from < start) continue;
        count += 1;
        const bursts = 1 + crashes.filter((at) => at >= start && at <= end).length;
        const allowed = bursts * burst + ((end - start) / 1_000) * perSecond;
        worst = Math.max(worst, Math.floor(count - allowed));
      }
    }
  }
  return worst;
}

/** Milliseconds: of 10 minutes, without those that an answer takes. */
const capWindow = 540_000;
const cap = 5;

/** Messages to one recipient over the cap of 10 minutes, or missing to it though more were asked for. */
export function offCap(accepted: readonly number[], refused: number): number {
  const times = accepted.toSorted((one, other) => one - other);
  const over = times.filter((at, index) => at - (times[index - cap] ?? Number.NEGATIVE_INFINITY) < capWindow);
  const missing = refused > 0 ? Math.max(0, cap - times.length) : 0;
  return over.length + missing;
}
