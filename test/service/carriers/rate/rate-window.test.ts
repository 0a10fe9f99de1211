import { beforeEach, expect, it } from 'vitest';
import { RateWindow } from '../../../../src/service/carriers/rate/rate-window.js';
import { ManualClock } from '../../../../src/service/clock.js';
import { ownRouteRates } from '../../../../src/service/storage/route-limits.js';

class Places extends RateWindow<'first'> {
  places = 1;

  protected override free(): number {
    return this.places - this.held;
  }
}

const ticks = () => new Promise(setImmediate);
let clock: ManualClock;
let window: Places;
beforeEach(() => {
  clock = new ManualClock();
  const route = { name: 'Mobicom', perSecond: 2 };
  window = new Places({ route, limits: ownRouteRates(clock), clock, report() {} }, 'first');
  window.open();
});

it('a window assigns room by kind, at its rate, and once to each release', async () => {
  const order: string[] = [];
  for (const kind of ['batch', 'single', 'first'] as const)
    void window.wait(kind).then((room) => {
      order.push(kind);
      expect([window.ahead, window.capacity]).toEqual([3, 10]);
      room?.use();
      room?.release();
      room?.release();
      expect(window.ahead).toBe(2);
    });
  await ticks();
  expect(order).toEqual(['first']);
  for (let time = 50; time <= 1_000; time += 50) {
    clock.advance(50);
    await ticks();
    expect(order.length).toBeLessThanOrEqual(1 + time / 500);
  }
  expect(order).toEqual(['first', 'single', 'batch']);
});

it('a window returns what its lowered rate no longer takes, last come first, and all once it is closed', async () => {
  window.places = 0;
  const returned: number[] = [];
  const all = Array.from({ length: 8 }, (_, index) =>
    window.wait('batch').then((room) => room ?? returned.push(index)),
  );
  await window.lower(0);
  await ticks();
  expect([window.capacity, returned]).toEqual([5, [5, 6, 7]]);
  window.close();
  await Promise.all(all);
  expect([window.capacity, returned]).toEqual([0, [5, 6, 7, 0, 1, 2, 3, 4]]);
});
