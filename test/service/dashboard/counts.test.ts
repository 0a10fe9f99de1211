import { expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { createCounts } from '../../../src/service/dashboard/counts.js';
import type { Counted, Store } from '../../../src/service/storage/store.js';

function open() {
  const clock = new ManualClock();
  const ends: ((counted: Counted) => void)[] = [];
  const store = { countMessages: () => new Promise((resolve) => ends.push(resolve)) } as unknown as Store;
  const ask = createCounts(store, clock);
  /** Ends the count under way, which has found so many. */
  async function end(count: number, milliseconds: number): Promise<void> {
    clock.advance(milliseconds);
    ends.at(-1)?.({
      counts: [{ slot: 0, status: 'sent', errorCode: null, count, unknown: 0 }],
      isWhole: true,
    });
    await new Promise((resolve) => setImmediate(resolve));
  }
  const asked = async (since = 0) => (await ask('p', since)).counts[0]?.count;
  return { clock, ends, end, asked };
}

it('counts once for all that ask meanwhile, and again after thirty times as long', async () => {
  const { clock, ends, end, asked } = open();
  const first = [asked(), asked()];
  await end(1, 10);
  expect(await Promise.all([...first, asked()])).toEqual([1, 1, 1]);
  clock.advance(301);
  const second = asked();
  await end(2, 10);
  expect([await second, ends.length]).toEqual([2, 2]);
});

it('shows the last count while a long one is under way, for a minute, and never that of another day', async () => {
  const { clock, ends, end, asked } = open();
  const first = asked();
  await end(1, 500);
  clock.advance(15_001);
  expect([await first, await asked(), await asked(), ends.length]).toEqual([1, 1, 1, 2]);
  await end(2, 500);
  expect(await asked()).toBe(2);
  clock.advance(60_001);
  const late = asked();
  await end(3, 500);
  expect(await late).toBe(3);
  const tomorrow = asked(86_400_000);
  await end(0, 500);
  expect([await tomorrow, ends.length]).toEqual([0, 4]);
});
