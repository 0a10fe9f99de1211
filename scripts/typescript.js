import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

/** Bundles a TypeScript program, outside of what is published, and runs it to its end. */
export async function runTypeScript(entry, args) {
  const outfile = join(
    'node_modules/.cache/urtuu',
    basename(dirname(entry)),
    `${basename(entry, '.ts')}.cjs`,
  );
  mkdirSync(dirname(outfile), { recursive: true });
  // Another run of the same program may read the file meanwhile.
  const made = `${outfile}.${process.pid}`;
  await build({
    entryPoints: [entry],
    outfile: made,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'warning',
    external: ['@photostructure/sqlite', 'esbuild', 'vitest/node'],
    define: { 'import.meta.dirname': JSON.stringify(resolve(dirname(entry))) },
  });
  renameSync(made, outfile);
  return spawnSync(process.execPath, [outfile, ...args], { stdio: 'inherit' }).status ?? 1;
}
