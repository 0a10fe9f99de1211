import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../../src/cli/bulk/job/journal/append-file.js';
import type { Entry } from '../../../../../src/cli/bulk/job/journal/entries.js';
import { Journal } from '../../../../../src/cli/bulk/job/journal/journal.js';
import { BrokenJournalError, readEntries } from '../../../../../src/cli/bulk/job/journal/journal-reader.js';
import { fileFolder } from '../../../../support/folders.js';
import { checksummed, decoded, type Encoded } from '../../journal-lines.js';
import { MemoryDisk } from '../../memory-disk.js';

const folder = fileFolder();

const encodedSend = (request: number): Encoded => ['send', request, 0, 10];
const send = (request: number): Entry => decoded(encodedSend(request));

async function entriesIn(bytes: Buffer): Promise<Entry[]> {
  const entries: Entry[] = [];
  const pieces = async function* () {
    yield bytes;
  };
  await readEntries(pieces(), 'journal', (entry) => entries.push(entry));
  return entries;
}

async function reopen(disk = nodeDisk as MemoryDisk | typeof nodeDisk, path = join(folder, 'journal')) {
  const entries: Entry[] = [];
  const journal = await Journal.open(disk, path, (entry) => entries.push(entry));
  return { journal, entries };
}

describe('the journal', () => {
  it('gives back what was appended, in order, from a private file', async () => {
    const path = join(folder, 'whole');
    const { journal } = await reopen(nodeDisk, path);
    await journal.append({ type: 'job', id: 'a', digest: 'd' });
    await Promise.all([journal.append(send(1)), journal.append(send(2))]);
    await journal.close();
    const again = await reopen(nodeDisk, path);
    expect(again.entries).toEqual([{ type: 'job', id: 'a', digest: 'd' }, send(1), send(2)]);
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
    for (const request of [1, 2, 3]) await journal.append(send(request));
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

  it('reads, or refuses, whatever bit of it is flipped: never fewer entries than were acted on', async () => {
    const path = join(folder, 'flipped');
    const { journal } = await reopen(nodeDisk, path);
    await journal.append(send(1));
    await Promise.all([
      journal.append(send(2)),
      journal.append(decoded(['accepted', 2, 0, 'b', 10, 'batch'])),
    ]);
    await journal.append(send(3));
    await journal.close();
    const bytes = readFileSync(path);
    const all = await entriesIn(bytes);
    expect(all).toHaveLength(4);
    let read = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
        const entries = await entriesIn(flipped).catch((error) => {
          expect(error).toBeInstanceOf(BrokenJournalError);
          return null;
        });
        if (entries !== null) expect([at, bit, entries]).toEqual([at, bit, all]);
        if (entries !== null) read += 1;
      }
    }
    // Only the last newline can go without a loss.
    expect(read).toBe(8);
  });

  it.each([0, 0x0b, 0x8a, 0xff])('has its last newline again where byte %i took its place', async (byte) => {
    const path = join(folder, `newline-${byte}`);
    const { journal } = await reopen(nodeDisk, path);
    await journal.append(send(1));
    await journal.append(send(2));
    await journal.close();
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = byte;
    writeFileSync(path, bytes);
    const mended = await reopen(nodeDisk, path);
    expect(mended.entries).toEqual([send(1), send(2)]);
    await mended.journal.append(send(3));
    await mended.journal.close();
    const again = await reopen(nodeDisk, path);
    expect(again.entries).toEqual([send(1), send(2), send(3)]);
    await again.journal.close();
  });

  it('refuses a whole last line with a wrong checksum: it may have been acted on', async () => {
    const lines = Buffer.from(checksummed([encodedSend(1)]) + checksummed([encodedSend(2)]));
    lines[lines.length - 5] = 0x39;
    await expect(entriesIn(lines)).rejects.toThrow(BrokenJournalError);
  });

  it.each([
    ['in a line before the last', Buffer.from(`${'\0'.repeat(9)}\n${checksummed([encodedSend(1)])}`)],
    ['in place of one byte of the last', Buffer.from(checksummed([encodedSend(1)]).replace(' ', '\0'))],
  ])('refuses zeros %s', async (_, bytes) => {
    await expect(entriesIn(bytes)).rejects.toThrow(BrokenJournalError);
  });

  it('drops zeros that a power cut left at the beginning, in the middle or at the end of the last line', async () => {
    const last = checksummed([encodedSend(2)]);
    for (let from = 0; from < last.length; from += 1) {
      for (const to of [from + 2, from + 9, last.length]) {
        const zeros = '\0'.repeat(Math.max(0, Math.min(to, last.length) - from));
        if (zeros.length < 2) continue;
        const bytes = Buffer.from(
          checksummed([encodedSend(1)]) + last.slice(0, from) + zeros + last.slice(to),
        );
        expect([from, to, await entriesIn(bytes)]).toEqual([from, to, [send(1)]]);
      }
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
