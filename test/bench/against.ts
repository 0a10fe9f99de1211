// Compares the cpu of every row of the benchmark with that of another tree: npm run bench:against -- <tree> [group...]
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from '../support/binary.js';
import { comparisons } from './against/comparisons.js';
import { ratiosOf } from './against/sides.js';

const limit = 1.05;
/** Of the pairs and slices that are usual, for a first look. */
const share = Number(process.env.URTUU_BENCH_SHARE ?? 1);

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

async function main([tree, ...groups]: readonly string[]): Promise<void> {
  if (tree === undefined) throw new Error('name the folder of the other tree');
  const there = resolve(tree);
  if (!existsSync(join(there, 'dist/client/index.cjs')))
    throw new Error(`run npm run build in ${there} first`);
  const unknown = groups.filter((name) => !(name in comparisons));
  if (unknown.length > 0) throw new Error(`no such group: ${unknown}; there are ${Object.keys(comparisons)}`);
  delete process.env.NODE_EXTRA_CA_CERTS;
  process.stdout.write('| cpu of | here | there | ratio | quartiles |\n|---|---|---|---|---|\n');
  for (const [group, rows] of Object.entries(comparisons)) {
    if (groups.length > 0 && !groups.includes(group)) continue;
    for (const row of rows) {
      const { ratios, ...cost } = await ratiosOf(
        { ...row, pairs: Math.ceil(row.pairs * share), slices: Math.ceil(row.slices * share) },
        root,
        there,
      );
      const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3));
      if (Number(middle) > limit) process.exitCode = 1;
      const cells = [
        row.what,
        `${cost.here.toFixed(1)} ms`,
        `${cost.there.toFixed(1)} ms`,
        middle,
        `${low} to ${high}`,
      ];
      process.stdout.write(`| ${cells.join(' | ')} |\n`);
    }
  }
}

void main(process.argv.slice(2));
