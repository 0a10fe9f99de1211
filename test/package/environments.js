// Uses the packed client where other people's tests run, and compiles its types with their compilers: Jest 29 and 30 in
// their environments for Node.js and jsdom, vitest in a realm of its own, TypeScript from 4.9 on. `npm run test:nodes`
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../systems/bundle.js';

const folder = mkdtempSync(join(tmpdir(), 'urtuu-environments-'));
const isWindows = process.platform === 'win32';
const npm = (cwd, ...words) =>
  execFileSync('npm', [...words, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'], {
    cwd,
    encoding: 'utf8',
    shell: isWindows,
  });
const [{ filename }] = JSON.parse(npm(root, 'pack', '--json', '--pack-destination', folder));
const tarball = join(folder, filename);

/** A folder that has installed the package and others. */
function install(name, packages) {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), '{ "name": "consumer", "private": true }');
  npm(path, 'install', tarball, ...packages);
  return path;
}

/** A send that is refused leaves no doubt, and one that is answered is read. */
const suite = `
const { createServer } = require('node:net');
const { Urtuu, UrtuuError } = require('urtuu');
const viaHttp = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const request = require('node:http').request(url, { method, headers, signal });
    request.on('error', reject).on('response', (answer) =>
      resolve({ status: answer.statusCode, headers: { get: (name) => answer.headers[name] ?? null }, body: answer }));
    request.end(body);
  });
const message = { to: '99112233', text: 'Сайн уу' };
const port = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
for (const fetch of [viaHttp, ...(typeof globalThis.fetch === 'function' ? [undefined] : [])])
  test('a refused connection leaves no doubt', async () => {
    const baseUrl = 'http://127.0.0.1:' + (await port()) + '/v1';
    const urtuu = new Urtuu('urtuu_test_key', { baseUrl, fetch, maxRetries: 0 });
    const error = await urtuu.sms.send(message).catch((thrown) => thrown);
    expect(error instanceof UrtuuError).toBe(true);
    expect(error.message).toContain('connection refused (ECONNREFUSED)');
    expect([error.code, error.requestSent, error.inDoubt]).toEqual(['connection_error', false, false]);
  });
test('an answer is read', async () => {
  const { createServer } = require('node:http');
  const server = createServer((request, response) => {
    request.resume();
    response.end(JSON.stringify({ id: 'm', status: 'sent', to: 'Бат', channel: 'sms', credits: 1, balance: 1 }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = 'http://127.0.0.1:' + server.address().port + '/v1';
  const urtuu = new Urtuu('urtuu_test_key', { baseUrl, fetch: viaHttp });
  expect((await urtuu.sms.send(message)).to).toBe('Бат');
  server.close();
});
`;

const runners = [
  ...['29', '30'].flatMap((version) =>
    ['node', 'jsdom'].map((environment) => ({
      name: `Jest ${version}, ${environment}`,
      packages: [`jest@${version}`, `jest-environment-jsdom@${version}`],
      args: ['node_modules/jest/bin/jest.js', '--forceExit', '--env', environment, 'urtuu.test.js'],
    })),
  ),
  {
    name: 'vitest, vmThreads',
    packages: ['vitest@4'],
    args: ['node_modules/vitest/vitest.mjs', 'run', '--pool=vmThreads', '--globals', 'urtuu.test.js'],
  },
];

/** Strictly, with the declarations of the package checked too. */
const compile = ['--strict', '--noEmit', '--skipLibCheck', 'false', '--target', 'es2022', '--types', 'node'];
const compilers = ['4.9', '5.0', '5.9', '7'].flatMap((version) =>
  [['node16', 'node16'], ...(version === '7' ? [] : [['commonjs', 'node']])].map(([module, resolution]) => ({
    name: `TypeScript ${version}, ${module}`,
    // Those of Node.js 20 as TypeScript 4.9 read them.
    packages: [`typescript@${version}`, '@types/node@18'],
    args: [
      'node_modules/typescript/bin/tsc',
      ...compile,
      ...['--module', module, '--moduleResolution', resolution],
      ...(module === 'node16' ? ['use.ts', 'esm-types.mts', 'commonjs-types.cts'] : ['use.ts']),
    ],
  })),
);

try {
  const installed = new Map();
  for (const { name, packages, args } of [...runners, ...compilers]) {
    const key = packages.join(' ');
    const path = installed.get(key) ?? install(`at-${installed.size}`, packages);
    installed.set(key, path);
    cpSync(join(import.meta.dirname, 'fixtures'), path, { recursive: true });
    writeFileSync(join(path, 'urtuu.test.js'), suite);
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: path,
      encoding: 'utf8',
      timeout: 60_000,
    });
    process.stdout.write(`${name}: ${status === 0 ? 'ok' : `${stdout}${stderr}`}\n`);
    if (status !== 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
