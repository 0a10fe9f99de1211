// Runs the package tests on every version of Node.js that is promised. `npm run test:nodes`
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const versions = JSON.parse(readFileSync(join(import.meta.dirname, 'nodes.json'), 'utf8'));
const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** Fetches the binary of a version once; its package has no install script. */
function binaryOf(version) {
  const folder = join(root, 'node_modules/.cache/node', version);
  const name = platform.startsWith('darwin') ? `node-bin-${platform}` : `node-${platform}`;
  const binary = join(
    folder,
    'node_modules',
    name,
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    const flags = ['--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', ['install', ...flags, `${name}@${version}`], {
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
  }
  return binary;
}

const failed = versions.filter((version) => {
  const URTUU_TEST_NODE = binaryOf(version);
  const found = execFileSync(URTUU_TEST_NODE, ['--version'], { encoding: 'utf8' }).trim();
  if (found !== `v${version}`) throw new Error(`${found} came in place of ${version}`);
  process.stdout.write(`\nNode.js ${version}\n`);
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'test/package'],
    {
      cwd: root,
      env: { ...process.env, URTUU_TEST_NODE },
      stdio: 'inherit',
    },
  );
  return status !== 0;
});
if (failed.length > 0) throw new Error(`failed on Node.js ${failed.join(', ')}`);
