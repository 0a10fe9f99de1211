// What `npm run release` has made, on machines without Node.js: npm run test:release, as root on Linux.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { nodeOf } from '../../scripts/release/executable.js';
import { writeInstallers } from '../../scripts/release/installers.js';

const release = resolve('release');
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const system = `linux-${process.arch}`;
const name = `urtuu-${version}-${system}`;
const nobody = 65_534;
const work = mkdtempSync(join(tmpdir(), 'urtuu-release-test-'));
after(() => rmSync(work, { recursive: true, force: true }));
chmodSync(work, 0o755);

/** A root with the shared libraries alone, in which a user without a name owns one folder. */
const root = join(work, 'root');
const home = join(root, 'data');
mkdirSync(home, { recursive: true });
chownSync(home, nobody, nobody);
execFileSync('tar', ['-xJf', join(release, `${name}.tar.xz`), '-C', work]);
cpSync(join(work, name), root, { recursive: true });
const libraries = execFileSync('ldd', [join(root, 'bin/urtuu')], { encoding: 'utf8' }).match(/\/\S+/g);
for (const library of libraries) {
  mkdirSync(dirname(join(root, library)), { recursive: true });
  cpSync(library, join(root, library), { dereference: true });
}
const inRoot = ['--userspec', `${nobody}:${nobody}`, root, '/bin/urtuu'];
const env = { XDG_STATE_HOME: '/data' };
const bare = (words, given = env) =>
  spawnSync('/usr/sbin/chroot', [...inRoot, ...words.split(' ')], { env: given, encoding: 'utf8' });

test('the list of checksums fits', () => {
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: release });
});

test('the package has no scripts', () => {
  const file = join(release, `urtuu-${version}.tgz`);
  const manifest = execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' });
  assert.deepEqual(
    Object.keys(JSON.parse(manifest)).filter((key) => /^(?:scripts|.*dependencies)$/i.test(key)),
    ['peerDependencies'],
  );
});

test('the executables of other systems are of their systems, with the command in them', () => {
  const heads = {
    'linux-arm64': /^\x7fELF\x02\x01.{12}\xb7\0/s,
    'darwin-x64': /^\xcf\xfa\xed\xfe\x07\0\0\x01/,
    'darwin-arm64': /^\xcf\xfa\xed\xfe\x0c\0\0\x01/,
    'win-x64': /^MZ.*PE\0\0\x64\x86/s,
    'win-arm64': /^MZ.*PE\0\0\x64\xaa/s,
  };
  const options = { encoding: 'latin1', maxBuffer: 2 ** 28 };
  for (const [other, head] of Object.entries(heads)) {
    const file = join(release, `urtuu-${version}-${other}`);
    const code = other.startsWith('win')
      ? execFileSync('unzip', ['-p', `${file}.zip`, '*/bin/urtuu.exe'], options)
      : execFileSync('tar', ['-xJOf', `${file}.tar.xz`, `urtuu-${version}-${other}/bin/urtuu`], options);
    assert.match(code.slice(0, 1_024), head, other);
    assert.match(code, /NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1/, other);
    assert.ok(code.includes('service/index.cjs'), other);
  }
});

test('an empty environment is enough for the version and the help', () => {
  assert.equal(bare('--version', {}).stdout, `${version}\n`);
  assert.match(bare('--help', {}).stdout, /sms send/);
});

test('it sends through the sandbox, and says what it is', () => {
  const { status, stdout, stderr } = bare('sms send 99112233 Hello --sandbox --json');
  assert.equal(status, 0, stderr);
  assert.equal(JSON.parse(stdout).status, 'sent');
  assert.match(bare('doctor --sandbox').stdout, /node +ok +v26\.\d+\.\d+, executable/);
});

test('a bulk job that is killed goes on, and each recipient gets one message', async () => {
  const rows = Array.from({ length: 60 }, (_, row) => `${88_000_000 + row},${row}\n`);
  writeFileSync(join(home, 'list.csv'), `phone,name\n${rows.join('')}`);
  const words = 'sms bulk /data/list.csv --text Hello-{name} --sandbox --yes --wait';
  const child = spawn('/usr/sbin/chroot', [...inRoot, ...words.split(' ')], { env });
  const ended = new Promise((done) => child.once('exit', (_, signal) => done(signal)));
  const jobs = join(home, 'urtuu/jobs');
  const sends = () =>
    existsSync(jobs) &&
    readdirSync(jobs, { recursive: true }).some(
      (file) => file.endsWith('journal') && readFileSync(join(jobs, file)).length > 1_000,
    );
  while (child.exitCode === null && !sends()) await setTimeout(5);
  child.kill('SIGKILL');
  assert.equal(await ended, 'SIGKILL');
  const { status, stderr } = bare(words);
  assert.equal(status, 0, stderr);
  const outbox = bare('sandbox outbox -o csv --columns to').stdout.trim().split('\n').slice(1);
  const sent = outbox.filter((to) => to.includes('88'));
  assert.equal(sent.length, 60);
  assert.equal(new Set(sent).size, 60);
});

test('it passes the end-to-end tests of the command, without a PATH', () => {
  const words = ['test/systems/executable.js', join(root, 'bin/urtuu')];
  const { status, stdout } = spawnSync(process.execPath, words, { env: { TMPDIR: work }, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

/** In a test's own, Node.js runs no other tests, and says that they pass. */
const testEnv = { ...process.env, NODE_TEST_CONTEXT: undefined };
test('it passes the tests with carriers, the dashboard and PostgreSQL', () => {
  const words = ['node_modules/vitest/vitest.mjs', 'run', 'test/e2e'];
  const { status, stdout } = spawnSync(process.execPath, words, {
    env: { ...testEnv, URTUU_TEST_EXECUTABLE: join(root, 'bin/urtuu') },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
});

const isThere = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

/** That of Debian 12 starts no Node.js 26, which wants memory as Wine 8 does not allocate it; that of Debian 13 does. */
function wineStartsNode() {
  const env = { ...process.env, WINEPREFIX: join(work, 'wine'), WINEDEBUG: '-all' };
  const words = [join(nodeOf('win-x64'), 'bin/node.exe'), '-p', '1'];
  // Node.js under Wine cannot use a pipe of Linux.
  return spawnSync('wine', words, { env, stdio: 'ignore' }).status === 0;
}

const skip = wineStartsNode() ? false : 'without a Wine that starts this Node.js';
test('that of Windows passes them under Wine', { skip }, () => {
  const other = `urtuu-${version}-win-x64`;
  execFileSync('unzip', ['-q', join(release, `${other}.zip`), '-d', work]);
  const { status, stdout } = spawnSync(process.execPath, ['test/systems/windows.js'], {
    env: { ...testEnv, URTUU_TEST_EXECUTABLE: join(work, other, 'bin/urtuu.exe') },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
});

test('it serves, and ends by the signal that stops it', async () => {
  const words = ['serve', '--drain-time', '0', '--data', '/data/service', '--port', '17788'];
  const child = spawn('/usr/sbin/chroot', [...inRoot, ...words], { env });
  const ended = new Promise((done) => child.once('exit', (_, signal) => done(signal)));
  try {
    const answer = await answerOf('http://127.0.0.1:17788/healthz');
    assert.equal(answer.status, 200);
    assert.match(await (await fetch('http://127.0.0.1:17788/dashboard')).text(), /<html/);
  } finally {
    child.kill();
  }
  assert.equal(await ended, 'SIGTERM');
});

async function answerOf(url) {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const answer = await fetch(url).catch(() => null);
    if (answer !== null) return answer;
    await setTimeout(50);
  }
  throw new Error(`${url} does not answer`);
}

test('with an address there is a formula; without one the installer asks for it', () => {
  const made = mkdtempSync(join(work, 'made-'));
  const of = (downloads) => writeInstallers(made, { version, checksums: {}, downloads });
  assert.deepEqual(of(null), ['install.sh', 'install.ps1']);
  const { status, stderr } = spawnSync('sh', [join(made, 'install.sh'), '--prefix', made], {
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /no address[\s\S]*--from/);
  assert.ok(of('https://example.mn/urtuu').includes('urtuu.rb'));
  const formula = join(made, 'urtuu.rb');
  assert.doesNotMatch(readFileSync(formula, 'utf8'), /undefined|\{(?:version|downloads|homepage)\}/);
  if (isThere('ruby')) execFileSync('ruby', ['-c', formula]);
});

test('the installer installs, upgrades, names a service that runs, and refuses a wrong checksum', async () => {
  let isWrong = true;
  const server = createServer(({ url }, response) => {
    const content = readFileSync(join(release, url));
    if (isWrong) content[content.length - 1] ^= 1;
    response.end(content);
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const user = join(work, 'user');
  mkdirSync(user);
  chownSync(user, nobody, nobody);
  const environment = { HOME: user, TMPDIR: user, PATH: '/usr/bin:/bin' };
  const options = { env: environment, uid: nobody, gid: nobody, cwd: '/' };
  const install = async () => {
    const from = `http://127.0.0.1:${server.address().port}`;
    const child = spawn('/bin/sh', [join(work, 'install.sh'), '--from', from], options);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
    const code = await new Promise((done) => child.once('close', done));
    return { code, said };
  };
  cpSync(join(release, 'install.sh'), join(work, 'install.sh'));
  const refused = await install();
  assert.equal(refused.code, 1);
  assert.match(refused.said, /checksum of .* is wrong; nothing was installed/);
  assert.deepEqual(readdirSync(user), []);
  isWrong = false;
  const first = await install();
  assert.equal(first.code, 0, first.said);
  assert.match(first.said, /^Installed urtuu/m);
  assert.deepEqual(readdirSync(user), ['.local']);
  const command = join(user, '.local/bin/urtuu');
  const service = spawn(
    command,
    ['serve', '--drain-time', '0', '--data', join(user, 'data'), '--port', '17789'],
    options,
  );
  await answerOf('http://127.0.0.1:17789/healthz');
  const second = await install();
  assert.equal(second.code, 0, second.said);
  assert.match(second.said, /^Replaced urtuu/m);
  assert.ok(second.said.includes(`old version (pid ${service.pid})`), second.said);
  service.kill();
  server.close();
  const removal = /To remove it:\n([\s\S]*?)\nJobs/.exec(second.said)[1];
  execFileSync('/bin/sh', ['-ec', removal]);
  assert.ok(!existsSync(command));
});

test('the Debian package installs, completes, and leaves the data when it is purged', () => {
  const instdir = join(work, 'debian');
  const database = join(instdir, 'var/lib/dpkg');
  mkdirSync(join(database, 'updates'), { recursive: true });
  mkdirSync(join(database, 'info'));
  writeFileSync(join(database, 'status'), '');
  const architecture = process.arch === 'x64' ? 'amd64' : 'arm64';
  const dpkg = (...words) =>
    execFileSync('dpkg', [`--instdir=${instdir}`, `--admindir=${database}`, '--force-depends', ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  dpkg('--install', join(release, `urtuu_${version}_${architecture}.deb`));
  const of = (path) => join(instdir, 'usr', path);
  assert.equal(execFileSync(of('bin/urtuu'), ['--version'], { encoding: 'utf8' }), `${version}\n`);
  for (const file of [
    'share/man/man1/urtuu-sms-send.1.gz',
    'share/zsh/vendor-completions/_urtuu',
    'share/fish/vendor_completions.d/urtuu.fish',
    'share/doc/urtuu/copyright',
    'share/doc/urtuu/docs/running.md',
  ])
    assert.ok(existsSync(of(file)), file);
  assert.match(
    readFileSync(of('lib/systemd/system/urtuu.service'), 'utf8'),
    /^ExecStart=\/usr\/bin\/urtuu /m,
  );
  const completed = execFileSync(
    '/bin/bash',
    [
      '-c',
      `. ${of('share/bash-completion/completions/urtuu')}; COMP_WORDS=(urtuu bal); COMP_CWORD=1; _urtuu; echo $COMPREPLY`,
    ],
    { env: { PATH: `${of('bin')}:/bin`, HOME: work }, encoding: 'utf8' },
  );
  assert.equal(completed, 'balance\n');
  mkdirSync(join(instdir, 'var/lib/urtuu'));
  writeFileSync(join(instdir, 'var/lib/urtuu/data'), '');
  dpkg('--purge', 'urtuu');
  assert.ok(!existsSync(of('bin/urtuu')));
  assert.ok(existsSync(join(instdir, 'var/lib/urtuu/data')));
});
