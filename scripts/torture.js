// Runs test/torture/<name>.ts against what `npm run build` has built: npm run torture -- bulk --seed 7
import { existsSync } from 'node:fs';
import { runTypeScript } from './typescript.js';

const [name = '', ...rest] = process.argv.slice(2);
const entry = `test/torture/${name}.ts`;
if (!/^[a-z-]+$/.test(name) || !existsSync(entry)) {
  process.stderr.write('usage: npm run torture -- <name of a file in test/torture> [options]\n');
  process.exit(2);
}
process.exit(await runTypeScript(entry, rest));
