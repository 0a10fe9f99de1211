import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Groups } from '../../../src/service/storage/postgres/database/groups.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const tick = () => new Promise((resolve) => setImmediate(resolve));

it('refuses whoever waited 900 ms behind others of the same tick, before anything of it was sent', async () => {
  const written: number[] = [];
  const groups = new Groups<number, number>(
    async ([item = 0]) => {
      written.push(item);
      return new Promise(() => {});
    },
    { most: 1 },
  );
  groups.add(1);
  groups.add(2);
  const third = groups.add(3);
  const refused = expect(third).rejects.toMatchObject({ failure: 'not_sent' });
  await tick();
  vi.advanceTimersByTime(900);
  await refused;
  expect(written).toEqual([1, 2]);
});
