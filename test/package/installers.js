// Installs the package out of a registry of its own with npm, pnpm, yarn and Bun: none fails, warns, or asks for more.
// What each installed is used: a login, a list, a service. Yarn's Plug'n'Play has files of its own kind.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { root } from '../systems/bundle.js';
import { fetchPackage } from '../systems/fetch-package.js';

const run = promisify(execFile);
const isWindows = process.platform === 'win32';
/** One that has SQLite, which a service needs. */
const nodeVersion = '24.21.0';
const platform = `${isWindows ? 'win' : process.platform}-${process.arch}`;
const node = fetchPackage(
  platform.startsWith('darwin') ? `node-bin-${platform}` : `node-${platform}`,
  nodeVersion,
  isWindows ? 'bin/node.exe' : 'bin/node',
  `node/${nodeVersion}`,
);
const script = (name, version, file) => [node, fetchPackage(name, version, file)];
const system = isWindows ? 'windows' : process.platform;
const bun = `@oven/bun-${system}-${process.arch === 'x64' ? 'x64-baseline' : 'aarch64'}`;

const installers = {
  npm: ['npm', 'install'],
  'pnpm 10': [...script('pnpm', '10.26.0', 'bin/pnpm.cjs'), 'add'],
  'yarn 1': [...script('yarn', '1.22.22', 'bin/yarn.js'), 'add'],
  'yarn 4': [...script('@yarnpkg/cli-dist', '4.18.1', 'bin/yarn.js'), 'add'],
  'yarn 4 PnP': [...script('@yarnpkg/cli-dist', '4.18.1', 'bin/yarn.js'), 'add'],
  Bun: [fetchPackage(bun, '1.4.5', `bin/bun${isWindows ? '.exe' : ''}`), 'add'],
};

const folder = mkdtempSync(join(tmpdir(), 'urtuu-installers-'));
const registry = createServer((request, response) => {
  if (request.url.startsWith('/v1/')) return serve(request, response);
  if (request.url === '/urtuu.tgz') response.end(tarball);
  else if (request.url === '/urtuu') response.end(JSON.stringify(packument()));
  else response.writeHead(404).end('{}');
});
await new Promise((resolve) => registry.listen(0, '127.0.0.1', resolve));
const registryUrl = `http://127.0.0.1:${registry.address().port}/`;
const env = {
  PATH: [dirname(node), dirname(process.execPath), process.env.PATH].join(delimiter),
  HOME: join(folder, 'home'),
  npm_config_registry: registryUrl,
  npm_config_update_notifier: 'false',
};

const packed = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
    shell: isWindows,
  }),
)[0];
const tarball = readFileSync(join(folder, packed.filename));

/** A service that sends everything. */
async function serve(request, response) {
  let written = '';
  for await (const piece of request) written += piece;
  const answers = {
    '/v1/balance': { balance: 900 },
    '/v1/pricing': {
      sms: {
        credits_per_part: 10,
        rate_multiplier: 1,
        latin_characters_per_part: 150,
        cyrillic_characters_per_part: 60,
        max_parts: 5,
      },
      email: { credits_per_message: 2 },
    },
    '/v1/sms': {
      id: randomUUID(),
      channel: 'sms',
      to: written === '' ? null : JSON.parse(written).to,
      status: 'sent',
      parts: 1,
      credits: 10,
      error: null,
      created_at: '2026-01-01T00:00:00.000Z',
      balance: 890,
    },
  };
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(answers[request.url] ?? {}));
}

/** As a registry answers: with what an installer needs of package.json. */
function packument() {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const dist = {
    tarball: `${registryUrl}urtuu.tgz`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
    integrity: packed.integrity,
  };
  return {
    name: 'urtuu',
    'dist-tags': { latest: manifest.version },
    versions: { [manifest.version]: { ...manifest, dist } },
    time: { [manifest.version]: '2026-01-01T00:00:00.000Z' },
  };
}

/** What Yarn says of every package of ES modules under Plug'n'Play. */
const ownWarnings = /^.*YN0092: .*ESM support for PnP.*\n|Done with warnings/gm;

/** What is wrong with an install; null when nothing is. */
async function problemOf([file, ...args], name) {
  const isPnp = name.endsWith('PnP');
  const cwd = join(folder, name.replaceAll(' ', '-'));
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), '{ "name": "consumer", "version": "1.0.0", "license": "MIT" }');
  writeFileSync(
    join(cwd, '.yarnrc.yml'),
    `nodeLinker: ${isPnp ? 'pnp' : 'node-modules'}\nenableTelemetry: false\nnpmRegistryServer: '${registryUrl}'\nunsafeHttpWhitelist: ['127.0.0.1']\n`,
  );
  const options = { cwd, env, encoding: 'utf8', shell: isWindows };
  const { stdout, stderr, message } = await run(file, [...args, 'urtuu'], options).catch((error) => error);
  const said = `${stdout}${stderr}`.replace(ownWarnings, '');
  if (message !== undefined || /warn|error|ignored|scripts/i.test(said)) return said;
  if (isPnp) return problemOfUse([file, args[0], 'run', 'urtuu'], options);
  const others = readdirSync(join(cwd, 'node_modules')).filter((each) => !/^\.|^urtuu$/.test(each));
  if (others.length > 0) return `it installed ${others.join(', ')} too`;
  return problemOfUse([join(cwd, 'node_modules/.bin/urtuu')], options);
}

/** Saves a profile, sends a list and runs a service; null if all succeed. */
async function problemOfUse([file, ...words], given) {
  const options = { ...given, env: { ...env, HOME: join(given.cwd, 'home') } };
  mkdirSync(options.env.HOME);
  const path = (name) => join(options.cwd, name);
  writeFileSync(path('key.txt'), 'a-key-of-nobody');
  writeFileSync(path('list.csv'), 'phone,name\n99112233,Bat\n88112233,Dorj\n');
  const login = ['login', '--base-url', `${registryUrl}v1`, '--api-key-file'];
  const bulk = ['sms', 'bulk', path('list.csv'), '--text', 'Hi {name}', '--yes', '--report'];
  for (const command of [
    [...login, path('key.txt')],
    [...bulk, path('report.csv')],
    ['jobs', 'list'],
  ]) {
    const { code = 0, stderr } = await run(file, [...words, ...command], options).catch((error) => error);
    if (code !== 0) return `${command.join(' ')} ended with ${code}: ${stderr}`;
  }
  const report = readFileSync(path('report.csv'), 'utf8');
  if (report.split(',sent,').length !== 3) return report;
  return problemOfService([file, ...words, 'serve', '--port', '0', '--data', path('data')], options);
}

async function problemOfService([file, ...words], options) {
  // A group of its own: Yarn runs the command as its child.
  const child = spawn(file, words, { ...options, detached: !isWindows, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  let address;
  for await (const line of createInterface(child.stdout)) {
    said += `${line}\n`;
    address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (address !== undefined) break;
  }
  const status = address && (await fetch(`${address}/readyz`).then(({ status }) => status, String));
  if (child.exitCode === null) process.kill(isWindows ? child.pid : -child.pid, 'SIGTERM');
  await ended;
  return status === 200 ? null : `serve answered ${status}: ${said}`;
}

try {
  mkdirSync(env.HOME);
  for (const [name, words] of Object.entries(installers)) {
    const problem = await problemOf(words, name);
    process.stdout.write(`${name}: ${problem ?? 'ok'}\n`);
    if (problem !== null) process.exitCode = 1;
  }
} finally {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
}
