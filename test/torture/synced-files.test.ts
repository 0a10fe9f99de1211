import { expect, it } from 'vitest';
import { lostWals } from './synced-files.js';

it.each([
  ['ftruncate(9</d/a.db-wal>, 0) = 0', 1],
  ['pwrite64(9</d/a.db-wal>, ""..., 32, 0) = 32', 1],
  ['unlink("/d/a.db-wal") = 0', 1],
  ['pwrite64(9</d/a.db-wal>, ""..., 24, 4152) = 24', 0],
  ['ftruncate(8</d/a.db>, 4096) = 0', 0],
  ['ftruncate(9</d/b.db-wal>, 0) = 0', 0],
])('counts a -wal that goes before its file is synced: %s', (call, count) => {
  const write = '7 pwrite64(8</d/a.db>, ""..., 4096, 0) = 4096';
  expect(lostWals(`${write}\n7 ${call}`).wrong).toHaveLength(count);
  expect(lostWals(`${write}\n7 fsync(8</d/a.db>) = 0\n7 ${call}`).wrong).toEqual([]);
});
