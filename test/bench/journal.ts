import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeDisk } from '../../src/cli/bulk/job/journal/append-file.js';
import { Journal } from '../../src/cli/bulk/job/journal/journal.js';
import { inPairs, type Row } from './pairs.js';

const requests = 1_000;

/** The journal of a million recipients in batches, one durable entry before and one after each request. */
export async function journal(pairs = 7): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-journal-'));
  const path = join(folder, 'journal');
  const write = async () => {
    rmSync(path, { force: true });
    const opened = await Journal.open(nodeDisk, path, () => {});
    const start = performance.now();
    for (let request = 0; request < requests; request += 1) {
      await opened.append({ type: 'send', request, revision: 0, recipients: 1_000 });
      await opened.append({
        type: 'accepted',
        request,
        revision: 0,
        id: '0190b5a0-0000-7000-8000-000000000000',
        credits: 10_000,
        kind: 'batch',
        replayOf: null,
        acceptedAt: start,
      });
    }
    const took = performance.now() - start;
    await opened.close();
    return took;
  };
  try {
    await write();
    const lines = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => Buffer.from(`${line}\n`));
    const bare = async () => {
      rmSync(path, { force: true });
      const file = await open(path, 'a', 0o600);
      const start = performance.now();
      for (const line of lines) {
        await file.write(line);
        await file.datasync();
      }
      const took = performance.now() - start;
      await file.close();
      return took;
    };
    const { ratio, a, b } = await inPairs(write, bare, pairs);
    return [
      {
        what: `journal, ${2 * requests} durable entries`,
        against: 'the same bytes appended and synced',
        goal: '1.2',
        measured: `${ratio.toFixed(2)} (${a.toFixed(0)} ms to ${b.toFixed(0)} ms)`,
        met: ratio <= 1.2,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
