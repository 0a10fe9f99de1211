// Runs the tests of the package, and of the storage where Node.js has SQLite, on every version of Node.js that is promised,
// or on those that are named. `npm run test:nodes`
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../systems/bundle.js';
import { fetchPackage } from '../systems/fetch-package.js';

/** Too old: the command says so, whatever it is asked. */
const tooOld = ['14.21.3', '18.20.8'];
const named = process.argv.slice(2);
const promised = JSON.parse(readFileSync(join(import.meta.dirname, 'nodes.json'), 'utf8'));
const versions = named.length > 0 ? named : promised;
const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** The binary of a version. */
function binaryOf(version) {
  const name = platform.startsWith('darwin') ? `node-bin-${platform}` : `node-${platform}`;
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  return fetchPackage(name, version, file, `node/${version}`);
}

const failed = versions.filter((version) => {
  const URTUU_TEST_NODE = binaryOf(version);
  const found = execFileSync(URTUU_TEST_NODE, ['--version'], { encoding: 'utf8' }).trim();
  if (found !== `v${version}`) throw new Error(`${found} came in place of ${version}`);
  process.stdout.write(`\nNode.js ${version}\n`);
  const test = (node, folder) =>
    spawnSync(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--mode', 'nodes', folder], {
      cwd: root,
      env: { ...process.env, URTUU_TEST_NODE },
      stdio: 'inherit',
    }).status === 0;
  // From 22 on the storage runs on SQLite of Node.js itself.
  const stores = Number.parseInt(version, 10) < 22 || test(URTUU_TEST_NODE, 'test/service/storage');
  return !(test(process.execPath, 'test/package') && stores);
});

for (const version of process.platform === 'linux' ? tooOld : []) {
  for (const args of [['--version'], ['sms', 'send', '99112233', 'hi']]) {
    const { status, stderr } = spawnSync(binaryOf(version), [join(root, 'bin/urtuu.js'), ...args], {
      encoding: 'utf8',
    });
    process.stdout.write(`\nNode.js ${version}: ${status} ${stderr}`);
    if (status !== 13 || !stderr.includes(`this is v${version}`)) failed.push(version);
  }
}
if (failed.length > 0) throw new Error(`failed on Node.js ${failed.join(', ')}`);
