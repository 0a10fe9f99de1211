import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { isTestAll } from '../support/test-all.js';
import { groups } from './groups.js';
import { playControl, type Row } from './row.js';

/** URTUU_SEED repeats a run. */
const seed = Number(process.env.URTUU_SEED ?? Date.now() % 1_000_000);
const isPlayed = ({ isAlwaysPlayed, provedBy, takesMinutes }: Row) =>
  isTestAll ? provedBy === undefined && !takesMinutes : isAlwaysPlayed;
const rowsOf = groups.map((group) => ({ name: group.name, rows: group.rows('small') }));

for (const { name: group, rows } of rowsOf) {
  describe.runIf(rows.some(isPlayed))(`torture: ${group}, seed ${seed}`, () => {
    for (const { name, play, controls, unavailable, isTimed } of rows.filter(isPlayed)) {
      const test = unavailable?.() ? it.skip : isTimed ? it : it.concurrent;
      test(name, { timeout: 120_000 }, async () => {
        const played = await play(seed);
        expect(played.wrong, played.found).toBe(0);
      });
      test(`${name}: is noticed with ${controls[0].name}`, { timeout: 120_000 }, async () => {
        expect((await playControl(controls[0], seed)).wrong).toBeGreaterThan(0);
      });
    }
  });
}

describe('torture', () => {
  const folders = ['test/torture', 'test/terminal'].map((folder) => join(root, folder));
  const sources = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.test)\.ts$/.test(name))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  );

  it('has every group that a file declares in its list', () => {
    const declared = sources.flatMap((text) =>
      [...text.matchAll(/^export const \w+ = groupOf\(\s*'(\w+)'/gm)].map(([, name]) => name),
    );
    expect(declared.sort()).toEqual(rowsOf.map(({ name }) => name).sort());
  });

  it('names test files that are there as the proof of rows that it leaves out', () => {
    const proofs = rowsOf.flatMap(({ rows }) =>
      rows.flatMap(({ provedBy = '' }) => provedBy.match(/test\/\S+\.test\.ts/g) ?? []),
    );
    expect(proofs.length).toBeGreaterThan(3);
    expect(proofs.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
