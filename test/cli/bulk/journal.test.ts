import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../src/cli/bulk/disk.js';
import { BrokenJournalError, type Entry, Journal } from '../../../src/cli/bulk/journal.js';
import { MemoryDisk } from './memory-disk.js';

const folder = mkdtempSync(join(tmpdir(), 'urtuu-journal-'));
afterAll(() => rmSync(folder, { recursive: true }));

const send = (chunk: number): Entry => ['send', chunk, 0, 10];

async function reopen(disk = nodeDisk as MemoryDisk | typeof nodeDisk, path = join(folder, 'journal')) {
  const entries: Entry[] = [];
  const journal = await Journal.open(disk, path, (entry) => entries.push(entry));
  return { journal, entries };
}

describe('the journal', () => {
  it('gives back what was appended, in order, from a private file', async () => {
    const path = join(folder, 'whole');
    const { journal } = await reopen(nodeDisk, path);
    await journal.append(['job', 'a', 'd']);
    await Promise.all([journal.append(send(1)), journal.append(send(2))]);
    await journal.close();
    const again = await reopen(nodeDisk, path);
    expect(again.entries).toEqual([['job', 'a', 'd'], send(1), send(2)]);
    await again.journal.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('syncs once for all entries that waited together, and before it resolves', async () => {
    const disk = new MemoryDisk();
    const operations: string[] = [];
    disk.before = (operation) => {
      operations.push(operation);
    };
    const { journal } = await reopen(disk, 'j');
    const first = journal.append(send(0));
    const rest = Array.from({ length: 50 }, (_, index) => journal.append(send(index + 1)));
    await Promise.all([first, ...rest]);
    expect(operations).toEqual(['append', 'sync']);
    await journal.append(send(99));
    expect(operations).toEqual(['append', 'sync', 'append', 'sync']);
    expect(disk.files.get('j')?.synced).toBe(disk.files.get('j')?.bytes.length);
  });

  it('drops a torn end at every length, cuts it off, and goes on behind it', async () => {
    const path = join(folder, 'torn');
    const { journal } = await reopen(nodeDisk, path);
    await journal.append(send(1));
    const whole = statSync(path).size;
    await journal.append(send(2));
    await journal.close();
    const bytes = readFileSync(path);
    for (let size = whole; size < bytes.length; size += 1) {
      writeFileSync(path, bytes.subarray(0, size));
      const torn = await reopen(nodeDisk, path);
      expect(torn.entries).toEqual([send(1)]);
      await torn.journal.append(send(3));
      await torn.journal.close();
      const mended = await reopen(nodeDisk, path);
      expect(mended.entries).toEqual([send(1), send(3)]);
      await mended.journal.close();
    }
  });

  it('drops a last line that a power cut left as zeros', async () => {
    const path = join(folder, 'zeros');
    const { journal } = await reopen(nodeDisk, path);
    await journal.append(send(1));
    await journal.close();
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(40), Buffer.from('\n')]));
    const { entries, journal: mended } = await reopen(nodeDisk, path);
    expect(entries).toEqual([send(1)]);
    await mended.close();
  });

  it('refuses a broken line in the middle, whichever byte it is, and changes nothing', async () => {
    const path = join(folder, 'broken');
    const { journal } = await reopen(nodeDisk, path);
    for (const chunk of [1, 2, 3]) await journal.append(send(chunk));
    await journal.close();
    const bytes = readFileSync(path);
    const second = bytes.indexOf(10) + 1;
    for (let at = second; at < bytes.indexOf(10, second); at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(path, damaged);
      await expect(reopen(nodeDisk, path)).rejects.toThrow(BrokenJournalError);
      expect(readFileSync(path)).toEqual(damaged);
    }
  });

  it.each(['append', 'sync'] as const)('takes nothing more after a failed %s', async (failing) => {
    const disk = new MemoryDisk();
    const { journal } = await reopen(disk, 'j');
    await journal.append(send(1));
    disk.torn = 5;
    disk.before = (operation) => {
      if (operation === failing) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    const lost = [journal.append(send(2)), journal.append(send(3))];
    for (const each of lost) await expect(each).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(journal.fault).toMatchObject({ code: 'ENOSPC' });
    disk.before = () => {};
    await expect(journal.append(send(4))).rejects.toMatchObject({ code: 'ENOSPC' });
  });
});
