import { mkdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

export const root = resolve(import.meta.dirname, '../..');
/** The end-to-end tests of the command, and how Node.js runs them. */
export const commandSuites = ['command.suite.ts', 'kill.suite.ts', 'service.suite.ts'];
export const testWords = ['--test', '--test-concurrency=1', '--test-reporter=spec'];

/** Bundles the suites, so that a runtime without TypeScript can run them; gives their files. */
export async function bundled(...names) {
  const outdir = join(root, 'node_modules/.cache/urtuu/systems');
  mkdirSync(outdir, { recursive: true });
  await build({
    entryPoints: names.map((name) => join(import.meta.dirname, name)),
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    logLevel: 'warning',
    external: ['@photostructure/sqlite'],
  });
  return names.map((name) => join(outdir, `${basename(name, '.ts')}.cjs`));
}
