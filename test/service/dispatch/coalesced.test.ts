import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { coalesced } from '../../../src/service/dispatch/coalesced.js';

const ignore = () => {};

it('the items of a tick are written together, each with its own result', async () => {
  const written: (readonly number[])[] = [];
  const write = coalesced(async (items: readonly number[]) => {
    written.push(items);
    return items.map((item) => item * 10);
  });
  const results = [1, 2, 3].map((item) => new Promise((resolve, reject) => write(item, resolve, reject)));
  expect(await Promise.all(results)).toEqual([10, 20, 30]);
  expect(written).toEqual([[1, 2, 3]]);
});

it('only the item that makes its group fail is rejected', async () => {
  const write = coalesced(async (items: readonly number[]) => {
    if (items.includes(3)) throw new Error('three');
    return items;
  });
  const results = [1, 2, 3, 4, 5].map(
    (item) => new Promise((resolve, reject) => write(item, resolve, reject)),
  );
  const ends = await Promise.allSettled(results);
  expect(ends.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true]);
});

it('an error in a callback is not taken for a failed write', async () => {
  const others = process.rawListeners('unhandledRejection') as NodeJS.UnhandledRejectionListener[];
  process.removeAllListeners('unhandledRejection');
  onTestFinished(() => {
    for (const other of others) process.on('unhandledRejection', other);
  });
  const unhandled = once(process, 'unhandledRejection');
  const written: (readonly number[])[] = [];
  const write = coalesced(async (items: readonly number[]) => {
    written.push(items);
    return items;
  });
  const broken = new Error('broken callback');
  const rejected: unknown[] = [];
  const reject = (error: unknown) => void rejected.push(error);
  write(1, ignore, reject);
  write(
    2,
    () => {
      throw broken;
    },
    reject,
  );
  expect((await unhandled)[0]).toBe(broken);
  expect(written).toEqual([[1, 2]]);
  expect(rejected).toEqual([]);
});
