import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/cli/bulk/input/input-error.js';
import { chunksOf, collect, plan } from '../cli/bulk/plans.js';
import { type CorpusFile, corpus } from './make.js';

/** What came of a file: its plan, read back, or why it was refused. */
async function outcomeOf({ name, bytes, encoding }: CorpusFile, blockBytes: number) {
  try {
    const outcome = await plan(bytes, {
      source: name,
      encoding,
      blockBytes,
      text: '{text}',
      skipInvalid: true,
    });
    const chunks = await chunksOf(outcome);
    const sent = chunks.flatMap(({ to, lines, body }) => {
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
    if (error instanceof InputError) return { refused: error.fault };
    throw error;
  }
}

describe('the corpus: no wrong number is planned, and no right one is lost', () => {
  const files = [...corpus()];
  const kinds = [...new Set(files.map(({ name }) => name.split('_')[0] ?? ''))];
  it.each(kinds)('%s', async (kind) => {
    const those = files.filter(({ name }) => name.startsWith(`${kind}_`));
    expect(those.length).toBeGreaterThanOrEqual((4 * 4 * 8) / 2);
    for (const [index, file] of those.entries()) {
      const blockBytes = [1_000_000, 7, 64][index % 3] ?? 1;
      expect(await outcomeOf(file, blockBytes), file.name).toEqual(file.expected);
    }
  });
});
