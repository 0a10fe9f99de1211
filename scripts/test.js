// npm test: lint, types and tests at once; first a build where a source is newer than what was built.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const built = 'dist/cli/start.cjs';
const sources = ['src', 'scripts', 'package.json'];

/** A folder is newer where a file of it was removed, too. */
function isNewer(path, time) {
  const found = statSync(path);
  if (found.mtimeMs > time) return true;
  return found.isDirectory() && readdirSync(path).some((name) => isNewer(join(path, name), time));
}

/** What a check printed, where it failed. */
function check(command, ...args) {
  const child = spawn(process.execPath, [join('node_modules', command), ...args]);
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve(code === 0 ? '' : `${command} failed:\n${printed}`));
  });
}

function testsPass(args) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...args];
  const child = spawn(process.execPath, vitest, { stdio: 'inherit' });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve(code === 0));
  });
}

if (!existsSync(built) || sources.some((path) => isNewer(path, statSync(built).mtimeMs))) {
  const { status } = spawnSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
const [passed, ...failures] = await Promise.all([
  testsPass(process.argv.slice(2)),
  check('@biomejs/biome/bin/biome', 'check', '.'),
  check('typescript/bin/tsc'),
]);
process.stderr.write(failures.join(''));
process.exit(passed && failures.every((failure) => failure === '') ? 0 : 1);
