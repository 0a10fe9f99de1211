import { describe, expect, it } from 'vitest';
import { corpus } from './make.js';
import { outcomeOf } from './outcome.js';

describe('the corpus: no wrong number is planned, and no right one is lost', () => {
  const files = [...corpus()];
  const kinds = [...new Set(files.map(({ name }) => name.split('_')[0] ?? ''))];
  it.each(kinds)('%s', async (kind) => {
    const those = files.filter(({ name }) => name.startsWith(`${kind}_`));
    expect(those.length).toBeGreaterThanOrEqual((4 * 4 * 9) / 4);
    for (const [index, file] of those.entries()) {
      const blockBytes = [1_000_000, 7, 64][index % 3] ?? 1;
      expect(await outcomeOf(file, blockBytes), file.name).toEqual(file.expected);
    }
  });
});
