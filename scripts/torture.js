// Runs test/torture/<name>.ts against what `npm run build` has built: npm run torture -- bulk --seed 7
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { build } from 'esbuild';

const [name = '', ...rest] = process.argv.slice(2);
const entry = `test/torture/${name}.ts`;
if (!/^[a-z-]+$/.test(name) || !existsSync(entry)) {
  process.stderr.write('usage: npm run torture -- <name of a file in test/torture> [options]\n');
  process.exit(2);
}
mkdirSync('.torture', { recursive: true });
const outfile = `.torture/${name}.cjs`;
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  logLevel: 'warning',
  external: ['@photostructure/sqlite', 'esbuild'],
  define: { 'import.meta.dirname': JSON.stringify(`${process.cwd()}/test/torture`) },
});
process.exit(spawnSync(process.execPath, [outfile, ...rest], { stdio: 'inherit' }).status ?? 1);
