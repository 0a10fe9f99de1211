// Installs the package out of a registry of its own with npm, pnpm, yarn and Bun: none fails, warns, or asks for more.
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../systems/bundle.js';
import { fetchPackage } from '../systems/fetch-package.js';

const run = promisify(execFile);
const isWindows = process.platform === 'win32';
const script = (name, version, file) => [process.execPath, fetchPackage(name, version, file)];
const system = isWindows ? 'windows' : process.platform;
const bun = `@oven/bun-${system}-${process.arch === 'x64' ? 'x64-baseline' : 'aarch64'}`;

const installers = {
  npm: ['npm', 'install'],
  'pnpm 10': [...script('pnpm', '10.26.0', 'bin/pnpm.cjs'), 'add'],
  'yarn 1': [...script('yarn', '1.22.22', 'bin/yarn.js'), 'add'],
  'yarn 4': [...script('@yarnpkg/cli-dist', '4.18.1', 'bin/yarn.js'), 'add'],
  Bun: [fetchPackage(bun, '1.4.5', `bin/bun${isWindows ? '.exe' : ''}`), 'add'],
};

const folder = mkdtempSync(join(tmpdir(), 'urtuu-installers-'));
const registry = createServer((request, response) => {
  if (request.url === '/urtuu.tgz') response.end(tarball);
  else if (request.url === '/urtuu') response.end(JSON.stringify(packument()));
  else response.writeHead(404).end('{}');
});
await new Promise((resolve) => registry.listen(0, '127.0.0.1', resolve));
const registryUrl = `http://127.0.0.1:${registry.address().port}/`;
const env = {
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
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

/** What is wrong with an install; null when nothing is. */
async function problemOf([file, ...args], name) {
  const cwd = join(folder, name.replace(' ', '-'));
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), '{ "name": "consumer", "version": "1.0.0", "license": "MIT" }');
  writeFileSync(
    join(cwd, '.yarnrc.yml'),
    `nodeLinker: node-modules\nenableTelemetry: false\nnpmRegistryServer: '${registryUrl}'\nunsafeHttpWhitelist: ['127.0.0.1']\n`,
  );
  const options = { cwd, env, encoding: 'utf8', shell: isWindows };
  const { stdout, stderr, message } = await run(file, [...args, 'urtuu'], options).catch((error) => error);
  const said = `${stdout}${stderr}`;
  if (message !== undefined || /warn|error|ignored|scripts/i.test(said)) return said;
  await run(join(cwd, 'node_modules/.bin/urtuu'), ['--version'], options);
  const others = readdirSync(join(cwd, 'node_modules')).filter((each) => !/^\.|^urtuu$/.test(each));
  return others.length === 0 ? null : `it installed ${others.join(', ')} too`;
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
