import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { allHighBytes, highBytes } from '../support/high-bytes.js';
import { Consumer, root, type Tarball } from './consumer.js';

const { version, man } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const consumer = new Consumer();
let tarball: Tarball;
beforeAll(async () => {
  tarball = await consumer.pack();
  await consumer.install(tarball);
}, 60_000);
afterAll(() => consumer.remove());

const sizeOf = (pattern: RegExp) =>
  tarball.files.filter(({ path }) => pattern.test(path)).reduce((sum, { size }) => sum + size, 0);

describe('the packed package', () => {
  it('holds what is needed and nothing else', () => {
    const wanted = [
      /^(?:README|CHANGELOG|SECURITY)\.md$/,
      /^(?:LICENSE|THIRD-PARTY-LICENSES\.txt|package\.json)$/,
      /^bin\/(?:urtuu\.js|package\.json)$/,
      /^dist\/[\w/-]+\.(?:c?js|d\.c?ts)$/,
      /^dist\/client\/core\.cjs\.map$/,
      /^docs\/[\w-]+\.(?:md|svg)$/,
      /^man\/urtuu[a-z-]*\.[17]$/,
      /^examples\/[\w.-]+$/,
      /^deploy\/(?:action\/|skill\/)?[\w.-]+$/,
    ];
    const paths = tarball.files.map(({ path }) => path);
    expect(paths.filter((path) => !wanted.some((each) => each.test(path)))).toEqual([]);
    for (const path of ['README.md', 'LICENSE', 'THIRD-PARTY-LICENSES.txt', 'dist/cli/main.cjs']) {
      expect(paths).toContain(path);
    }
  });

  it('has the manual', () => {
    const pages = tarball.files.map(({ path }) => path).filter((path) => path.startsWith('man/'));
    expect(pages.length).toBeGreaterThan(30);
    expect(pages.map((path) => `./${path}`).sort()).toEqual([...man].sort());
  });

  it('is small: client and command under 1 MB unpacked, 2 MB with the service, 60 KiB of it the dashboard', () => {
    const whole = sizeOf(/^(?:bin|dist)\/.*(?<!\.map)$/);
    expect(whole - sizeOf(/^dist\/service\//)).toBeLessThan(1_000_000);
    expect(whole).toBeLessThan(2_000_000);
    expect(sizeOf(/^dist\/service\/dashboard\.cjs$/)).toBeLessThanOrEqual(60 * 1_024);
  });

  it('has the list of 100 customers, and not the long one', () => {
    const lists = tarball.files.filter(({ path }) => path.endsWith('.csv'));
    expect(lists.map(({ path }) => path)).toEqual(['examples/customers.csv']);
    expect(readFileSync(join(root, 'examples/customers.csv'), 'utf8').trim().split('\n')).toHaveLength(101);
  });

  it('is as large as its pages say, and so is the engine for Node.js 20', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const figures = readFileSync(join(root, 'docs/figures.md'), 'utf8');
    const [, client, whole, engine] =
      /^\| installed: .* \| ([\d.]+) MB at most \(([\d.]+) MB .* engine of (\d+) MB\) \|/m.exec(figures) ??
      [];
    const megabytes = (bytes: number) => bytes / 1e6;
    expect(megabytes(tarball.unpackedSize - sizeOf(/^dist\/service\//))).toBeLessThan(Number(client));
    expect(megabytes(tarball.unpackedSize)).toBeLessThan(Number(whole));
    const folder = join(root, 'node_modules/@photostructure/sqlite');
    const installed = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => statSync(join(folder, name)))
      .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
    expect(megabytes(installed)).toBeGreaterThan(Number(engine) - 3);
    expect(megabytes(installed)).toBeLessThan(Number(engine) + 3);
    expect(readme).toContain(`one package of at most ${whole} MB.`);
    expect(readme).toContain(`add a ${engine} MB engine:`);
  });

  it('names the licence of every package it holds', () => {
    const text = readFileSync(join(root, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['commander', 'csv-parse', 'ora', 'hono', 'zod']) {
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\([A-Z0-9-]+\\)$`, 'm'));
    }
  });

  it('is the only package of an install, and runs no script', () => {
    const modules = join(consumer.folder, 'node_modules');
    expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['urtuu']);
    const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
    expect(Object.keys(packages)).toContain('node_modules/urtuu');
    for (const entry of Object.values(packages)) expect(entry).not.toHaveProperty('hasInstallScript');
    // npm warns of these, though it runs none of a tarball but the first three.
    const { scripts } = JSON.parse(readFileSync(join(modules, 'urtuu/package.json'), 'utf8'));
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare'])
      expect(scripts).not.toHaveProperty(name);
  });

  it('is clean to publint', async () => {
    const { buffer } = Uint8Array.from(tarball.content);
    const { messages } = await publint({ pack: { tarball: buffer }, strict: true });
    expect(messages).toEqual([]);
  });

  it('has types that are right for every way to import it', async () => {
    const checked = await checkPackage(createPackageFromTarballData(tarball.content));
    expect(checked.types).toEqual({ kind: 'included' });
    expect('problems' in checked && checked.problems).toEqual([]);
  });
});

describe('a program that installed it', () => {
  it('imports it as an ES module, and finds one class of each name in both module systems', async () => {
    expect(await consumer.node('esm.mjs')).toBe('ok\n');
  });

  it('requires it as CommonJS', async () => {
    expect(await consumer.node('commonjs.cjs')).toBe('ok\n');
  });

  it('loads it in a realm of its own, where a refused connection leaves no doubt', async () => {
    expect(await consumer.node('other-realm.cjs')).toBe('ok\n');
  });

  it('shows the line of an error that nobody catches, and not the whole client', async () => {
    const program = ['-e', "new (require('urtuu').Urtuu)(1)"];
    const { code, stderr } = await consumer.run(consumer.nodePath, program).catch((error) => error);
    expect(code).toBe(1);
    expect(stderr).toContain('TypeError: The API key must be a string');
    expect(Math.max(...stderr.split('\n').map((line: string) => line.length))).toBeLessThan(200);
  });

  it('has stacks that point into the source', async () => {
    const stack = await consumer.node('--enable-source-maps', 'stack.cjs');
    const sources = join(root, 'src/client').slice(root.length);
    const places = [...stack.matchAll(/urtuu(\/src\/[\w/-]+\.ts):(\d+):\d+/g)];
    expect(places.length).toBeGreaterThan(1);
    for (const [, file = '', line] of places) {
      expect(file.startsWith(sources)).toBe(true);
      const lines = readFileSync(join(root, file), 'utf8').split('\n');
      expect(lines[Number(line) - 1]).toMatch(/UrtuuError|errorOf/);
    }
  });

  it.each([
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('compiles strictly with module %s and moduleResolution %s', async (module, moduleResolution) => {
    const options = {
      target: 'es2022',
      module,
      moduleResolution,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    };
    const files =
      moduleResolution === 'bundler' ? ['use.ts'] : ['use.ts', 'esm-types.mts', 'commonjs-types.cts'];
    const project = join(consumer.folder, `tsconfig.${module}.json`);
    writeFileSync(project, JSON.stringify({ compilerOptions: options, files }));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await consumer
      .run(process.execPath, [compiler, '-p', project])
      .catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });
});

describe('the installed command', () => {
  const bin = () => join(consumer.folder, 'node_modules/.bin/urtuu');

  it('runs on the Node.js that is tested', async () => {
    const { stdout } = await consumer.run('node', ['--version']);
    expect(stdout).toBe(await consumer.node('--version'));
  });

  it('has no part that this Node.js cannot load', async () => {
    const parts = join(consumer.folder, 'node_modules/urtuu/dist/cli');
    const files = readdirSync(parts).map((file) => `./node_modules/urtuu/dist/cli/${file}`);
    expect(files.length).toBeGreaterThan(20);
    writeFileSync(join(consumer.folder, 'all.cjs'), files.map((file) => `require('${file}');`).join('\n'));
    expect(await consumer.node('all.cjs')).toBe('');
  });

  it('runs from npx, from its link, and from a link to that', async () => {
    expect((await consumer.run('npx', ['--no-install', 'urtuu', '--version'])).stdout).toBe(`${version}\n`);
    expect((await consumer.run(bin(), ['--version'])).stdout).toBe(`${version}\n`);
    const link = join(consumer.folder, 'urtuu-link');
    symlinkSync(bin(), link);
    expect((await consumer.run(link, ['-V'])).stdout).toBe(`${version}\n`);
  });

  it('reads every letter of a mail, whatever its charset', async () => {
    const bodies: { subject?: string; text: string }[] = [];
    const service = createServer(async (request, response) => {
      bodies.push(JSON.parse(await text(request)));
      const channel = request.url === '/v1/sms' ? 'sms' : 'email';
      const to = channel === 'sms' ? '99112233' : 'bat@example.mn';
      const sent = { id: 'm', status: 'sent', channel, to, credits: 1, balance: 1 };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(sent));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void service.close());
    await once(service, 'listening');
    const { port } = service.address() as AddressInfo;
    const env = { HOME: consumer.home(), URTUU_API_KEY: 'k', URTUU_BASE_URL: `http://127.0.0.1:${port}/v1` };
    const urtuu = (words: string, input: Uint8Array) => {
      writeFileSync(join(consumer.folder, 'input'), input);
      return consumer.run('sh', ['-c', `"$0" ${words} < input`, bin()], env);
    };
    const encodings = Object.entries(highBytes);
    for (const [charset, letters] of encodings) {
      const word = `=?${charset}?B?${allHighBytes.toString('base64')}?=`;
      const type = `text/plain; charset=${charset}`;
      const head = `To: bat@example.mn\nSubject: ${word}\nContent-Type: ${type}\nContent-Transfer-Encoding: 8bit\n\nx`;
      await urtuu('sendmail -t', Buffer.concat([Buffer.from(head), allHighBytes, Buffer.from('x')]));
      // Bytes without a letter are control characters, which the service refuses in a subject.
      const subject = letters.replace(/\p{Cc}+/gu, ' ').trim();
      expect(bodies.pop()).toMatchObject({ subject, text: `x${letters}x` });
    }
    // The reader of mails by itself, as the inbox uses it.
    const parse = `require('./node_modules/urtuu/dist/mail/postal-mime.cjs').parse(require('fs').readFileSync(0))`;
    for (const [charset, letters] of encodings) {
      const mail = Buffer.concat([
        Buffer.from(
          `Subject: =?${charset}?B?${allHighBytes.toString('base64')}?=\nContent-Type: text/plain; charset=${charset}\n\n`,
        ),
        allHighBytes,
      ]);
      writeFileSync(join(consumer.folder, 'input'), mail);
      const program = `${parse}.then(({ subject, text }) => console.log(JSON.stringify([subject, text.slice(0, -1)])))`;
      const { stdout } = await consumer.run('sh', ['-c', '"$0" -e "$1" < input', consumer.nodePath, program]);
      expect(JSON.parse(stdout)).toEqual([letters, letters]);
    }
  });

  it('shows the same help with and without compiled code, and where none can be kept', async () => {
    const help = (env?: NodeJS.ProcessEnv) =>
      consumer.run(bin(), ['sms', 'send', '--help'], env).then(({ stdout }) => stdout);
    const first = await help();
    expect(first).toContain('Usage: urtuu sms send');
    expect(readdirSync(join(consumer.home(), '.cache/urtuu')).length).toBeGreaterThan(0);
    expect(await help()).toBe(first);
    expect(await help({})).toBe(first);
    expect(await help({ HOME: '/proc/none' })).toBe(first);
    expect(await help({ HOME: consumer.home(), NODE_DISABLE_COMPILE_CACHE: '1' })).toBe(first);
  });

  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    'runs for a user whom the system does not know, without a home',
    async () => {
      chmodSync(consumer.folder, 0o755);
      const script = 'exec setpriv --reuid 54321 --regid 54321 --clear-groups env -i "$@"';
      const node = (await consumer.run('which', ['node'])).stdout.trim();
      const installed = join(consumer.folder, 'node_modules/urtuu/bin/urtuu.js');
      const { stdout, stderr } = await consumer.run('sh', [
        '-c',
        script,
        'sh',
        node,
        installed,
        'profiles',
        'list',
      ]);
      expect({ stdout, stderr }).toEqual({
        stdout: '',
        stderr: expect.stringMatching(/^No profiles/),
      });
    },
  );

  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    'needs no profile of a home that its user cannot enter, if the key is given',
    async () => {
      chmodSync(consumer.folder, 0o755);
      const home = join(consumer.folder, 'home-of-root');
      mkdirSync(home, { mode: 0o700 });
      const installed = join(consumer.folder, 'node_modules/urtuu/bin/urtuu.js');
      const node = (await consumer.run('which', ['node'])).stdout.trim();
      const user = '--reuid 54321 --regid 54321 --clear-groups env -i'.split(' ');
      const as = (words: string, ...env: string[]) =>
        consumer
          .run('setpriv', [...user, `HOME=${home}`, ...env, node, installed, ...words.split(' ')])
          .catch(({ code, stdout, stderr }) => `${code} ${stdout}${stderr.split('\n')[0]}`);
      const key = 'URTUU_API_KEY=urtuu_test_key';
      const hidden = `cannot read ${home}/.config/urtuu/config.json`;
      const balance = 'balance --base-url http://127.0.0.1:1/v1 --max-retries 0';
      expect(await as(balance, key)).toBe(
        '5 urtuu: cannot connect to http://127.0.0.1:1/v1: connection refused',
      );
      expect(await as(balance)).toBe(`13 urtuu: ${hidden}`);
      expect(await as(balance, key, 'URTUU_PROFILE=work')).toBe(`13 urtuu: ${hidden}`);
      expect(await as('doctor --base-url http://127.0.0.1:1/v1', key)).toContain(
        `config    warning  ${hidden}`,
      );
    },
  );

  it('keeps no compiled code after a failure', async () => {
    const failed = await consumer
      .run(bin(), ['pricing', 'nonsense'])
      .catch((error: { code: number }) => error);
    expect(failed).toMatchObject({ code: 2 });
    expect(readdirSync(join(consumer.home(), '.cache/urtuu')).join()).not.toContain('pricing');
  });

  it('needs the engine only where Node.js has none, and names the command that installs it', async () => {
    const global = await consumer.installGlobally(tarball);
    const balances = [bin(), global].map((file) =>
      consumer.run(file, ['balance', '--sandbox']).catch((error: { code: number; stderr: string }) => error),
    );
    const [local, globally] = await Promise.all(balances);
    const version = (await consumer.node('--version')).slice(1);
    if (Number.parseFloat(version) >= 22.16) {
      for (const outcome of [local, globally]) {
        expect(outcome).toMatchObject({ stderr: '', stdout: expect.stringContaining('100,000') });
      }
      return;
    }
    const hint = (command: string) =>
      `Install it with: ${command} @photostructure/sqlite@1; Node.js 22.16 or newer needs nothing.\n`;
    expect(local).toMatchObject({ code: 13, stderr: expect.stringContaining(hint('npm install')) });
    expect(globally).toMatchObject({
      code: 13,
      stderr: expect.stringContaining(hint('npm install --global')),
    });
    consumer.addEngine();
  });

  it('sends through the embedded service', async () => {
    const { stdout, stderr } = await consumer.run(bin(), [
      'sms',
      'send',
      '99112233',
      'Сайн уу',
      '--sandbox',
      '--json',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'sent', to: '99112233', parts: 1 });
    expect(stderr).not.toContain('Warning');
  });

  it('embeds the service in a program, over HTTP and in the process', async () => {
    expect(await consumer.node('sandbox.mjs')).toBe('ok\n');
  });

  it('works from a folder it may not write', async () => {
    const folder = join(consumer.folder, 'node_modules/urtuu/dist/cli');
    chmodSync(folder, 0o555);
    expect((await consumer.run(bin(), ['--version'])).stdout).toBe(`${version}\n`);
    chmodSync(folder, 0o755);
    expect(existsSync(join(folder, 'main.cjs'))).toBe(true);
  });
});
