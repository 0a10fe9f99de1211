import { describe, expect, it } from 'vitest';
import { whyNoInjection } from './bulk-syscalls.js';
import { carelessCarrier, lostWals, playSyncedFiles } from './synced-files.js';

const why = whyNoInjection();

describe.skipIf(why !== null)(
  `a power loss after a -wal went${why === null ? '' : `, skipped: ${why}`}`,
  () => {
    it('takes nothing: the file of the database was synced before', async () => {
      expect(await playSyncedFiles('none')).toMatchObject({ wrong: 0 });
    });

    it('takes deliveries where the carrier leaves syncs to the system: the control', async () => {
      expect((await playSyncedFiles(carelessCarrier)).wrong).toBeGreaterThan(0);
    });
  },
);

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
