import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../support/binary.js';
import { type Side, workerSide } from './sides.js';

const bundles = new Map<string, Promise<string>>();

/** Once: a worker may be reading it. */
export function bundled(tree: string, entry: string): Promise<string> {
  const path = join(tree, entry);
  const known = bundles.get(path) ?? bundle(tree, entry);
  bundles.set(path, known);
  return known;
}

/** Bundles a program of a tree, where it finds the packages of the tree. */
async function bundle(tree: string, entry: string): Promise<string> {
  const folder = join(tree, 'node_modules/.cache/urtuu/against');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${basename(entry, '.ts')}.cjs`);
  const bundling = { bundle: true, platform: 'node', target: 'node20', format: 'cjs' } as const;
  const external = ['@photostructure/sqlite'];
  await build({ entryPoints: [join(tree, entry)], outfile, logLevel: 'warning', external, ...bundling });
  return outfile;
}

/** The core of a tree's service. */
export const core = (tree: string) => bundled(tree, 'src/service/core.ts');

/** A worker with a kind of work, and the bundle that does it. */
export const sideOf = async (kind: string, bundle: Promise<string>, ...given: string[]): Promise<Side> =>
  workerSide(await bundled(root, 'test/bench/against/worker.ts'), kind, await bundle, ...given);
