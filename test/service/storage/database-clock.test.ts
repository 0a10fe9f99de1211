import { expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { DatabaseClock } from '../../../src/service/storage/postgres/database-clock.js';

const database = Date.UTC(2026, 5, 1);

/** A process whose clock is a day ahead; asks take `there` and `back` milliseconds. */
function processOf() {
  const clock = new ManualClock(database + 86_400_000);
  const told = () => database + Math.floor(clock.monotonic());
  const ask = (there: number, back: number, ahead = 0): [at: number, since: number] => {
    const since = clock.monotonic();
    clock.advance(there);
    const at = told() + ahead;
    clock.advance(back);
    return [at, since];
  };
  return { clock, told, ask };
}

it('is the time of the database, whatever the clock of the process shows', () => {
  const { clock, told, ask } = processOf();
  const [at, since] = ask(5, 5);
  const time = new DatabaseClock(clock, at, since);
  expect(time.now()).toBe(told());
  clock.advance(3_600_000);
  clock.set(0);
  expect(time.now()).toBe(told());
});

it('is off by half of what an answer took at most, and by less with every quicker one', () => {
  const { clock, told, ask } = processOf();
  const [at, since] = ask(0, 200);
  const time = new DatabaseClock(clock, at, since);
  expect(told() - time.now()).toBe(100);
  time.observe(...ask(300, 300));
  expect(told() - time.now()).toBe(100);
  time.observe(...ask(2, 1));
  expect(told() - time.now()).toBe(1);
});

it('goes with a database whose time was set', () => {
  const { clock, told, ask } = processOf();
  const time = new DatabaseClock(clock, ...ask(1, 1));
  for (const step of [3_600_000, -3_600_000]) {
    time.observe(...ask(1, 1, step));
    expect(Math.abs(time.now() - told() - step)).toBeLessThanOrEqual(2);
  }
});
