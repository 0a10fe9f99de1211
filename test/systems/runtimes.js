// The client and the command on Bun and on Deno. `npm run test:runtimes`
import { execFileSync, spawnSync } from 'node:child_process';
import { bundled, root } from './bundle.js';
import { fetchPackage } from './fetch-package.js';

const { arch, platform } = process;
const system = platform === 'win32' ? 'windows' : platform;
const end = platform === 'win32' ? '.exe' : '';
const bunArch = arch === 'arm64' ? 'aarch64' : 'x64';
const denoSystem = { linux: `linux-${arch}-glibc`, darwin: `darwin-${arch}`, win32: `win32-${arch}` }[
  platform
];

const runtimes = [
  { name: 'Bun', words: [fetchPackage(`@oven/bun-${system}-${bunArch}`, '1.4.5', `bin/bun${end}`)] },
  { name: 'Deno', words: [fetchPackage(`@deno/${denoSystem}`, '2.9.6', `deno${end}`), 'run', '-A'] },
];

const files = await bundled('runtime.suite.ts', 'kill.suite.ts', 'service.suite.ts');
const failed = runtimes.filter(({ name, words }) => {
  const version = execFileSync(words[0], ['--version'], { encoding: 'utf8' }).split('\n', 1)[0];
  process.stdout.write(`\n${name} ${version}\n`);
  const { status } = spawnSync(
    process.execPath,
    ['--test', '--test-concurrency=1', '--test-reporter=spec', ...files],
    {
      stdio: 'inherit',
      env: { ...process.env, URTUU_TEST_ROOT: root, URTUU_TEST_RUNTIME: JSON.stringify(words) },
    },
  );
  return status !== 0;
});
if (failed.length > 0) throw new Error(`failed on ${failed.map(({ name }) => name).join(' and ')}`);
