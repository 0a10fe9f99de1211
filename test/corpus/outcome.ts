import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../src/cli/bulk/input/input-error.js';
import { collect, planIn, requestsOf } from '../cli/bulk/plan-in.js';
import type { CorpusFile } from './make.js';

/** What came of a file: its plan, read back, or why it was refused. */
export async function outcomeOf(
  { name, bytes, encoding }: CorpusFile,
  blockBytes: number,
): Promise<CorpusFile['expected'] | { refused: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-corpus-'));
  try {
    const options = { source: name, encoding, blockBytes, text: '{text}', skipInvalid: true };
    const outcome = await planIn(join(folder, 'plan'), bytes, options);
    const requests = await requestsOf(outcome);
    const sent = requests.flatMap(({ to, lines, body }) => {
      const text: string = JSON.parse(body).text;
      return to.map((number, index) => ({ number, line: lines[index] ?? 0, text }));
    });
    sent.sort((one, other) => one.line - other.line);
    const rows = outcome.plan === null ? [] : await collect(outcome.plan.rows());
    return {
      numbers: sent.map(({ number }) => number),
      lines: sent.map(({ line }) => line),
      texts: sent.map(({ text }) => text),
      rejectedLines: rows.filter(({ error }) => error !== null).map(({ line }) => line),
    };
  } catch (error) {
    if (error instanceof InputError) return { refused: error.kind };
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
