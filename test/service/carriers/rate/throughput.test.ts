import { expect, it } from 'vitest';
import { Throughput } from '../../../../src/service/carriers/rate/throughput.js';
import { ManualClock } from '../../../../src/service/clock.js';

/** Messages that begin one after the other, while so many others wait. */
function paceAfter(...steps: [count: number, everyMs: number, waiting: number][]): number | null {
  const clock = new ManualClock(0);
  const throughput = new Throughput(clock);
  for (const [count, everyMs, waiting] of steps) {
    for (let begun = 0; begun < count; begun += 1) {
      throughput.begin(waiting);
      clock.advance(everyMs);
    }
  }
  return throughput.perSecond;
}

it('is what begins in a second while others wait', () => {
  expect(paceAfter([200, 20, 5])).toBeCloseTo(50);
  expect(paceAfter([200, 20, 5], [30, 100, 5])).toBeCloseTo(10);
  expect(paceAfter([100, 200, 5])).toBeCloseTo(5);
});

it('is not known before a second is over, while none waits, and after a break', () => {
  expect(paceAfter([40, 20, 5])).toBeNull();
  expect(paceAfter([200, 20, 0])).toBeNull();
  expect(paceAfter([200, 20, 5], [1, 20, 0], [60, 20, 5])).toBeNull();
  expect(paceAfter([200, 20, 5], [1, 5_000, 5], [20, 20, 5])).toBeNull();
});
