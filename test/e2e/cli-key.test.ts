import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { pricing, smsMessage, smsResult } from '../support/resources.js';
import { run } from '../support/run.js';

const key = 'urtuu_KnownSecretKnownSecretKnownSecret0123456';

let machine: Machine;
let server: Loopback;
/** What the service does with what is posted. */
let mood: 'accepts' | 'refuses' | 'quotes' | 'drops' = 'accepts';

beforeAll(async () => {
  machine = new Machine();
  writeFileSync(join(machine.home, 'key.txt'), `${key}\n`);
  writeFileSync(join(machine.home, 'list.csv'), 'phone,name\n99112233,Bat\n88001122,Bold\n95112233,Dorj\n');
  writeFileSync(join(machine.home, 'bad.csv'), 'phone,name\n99112233,Bat\nnobody,Bold\n');
  server = await Loopback.listen(({ method, path, headers, body }, response) => {
    if (mood === 'refuses') return json(response, 401, { error: { code: 'unauthorized', message: 'no' } });
    if (mood === 'quotes') {
      const quote = `seen: ${JSON.stringify(headers)}`;
      return json(response, 400, { error: { code: 'invalid_request', message: quote, invalid: [quote] } });
    }
    if (path.endsWith('/pricing')) return json(response, 200, pricing);
    if (path.endsWith('/balance')) return json(response, 200, { balance: 900 });
    if (mood === 'drops') return void response.socket?.destroy();
    if (/\/messages(?:\?|$)/.test(path)) return json(response, 200, { data: [smsMessage()], next: null });
    const to = method === 'POST' ? JSON.parse(body).to : '99112233';
    const total = Array.isArray(to) ? to.length : 1;
    json(response, 200, { ...smsResult({ to }), total });
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  machine.remove();
});

const lines = [
  'balance',
  'balance -v',
  'balance --json -v',
  'balance --min 100000',
  'pricing -v',
  'doctor -v',
  'doctor --json',
  'sms send 99112233 hi -v',
  'sms send 99112233 hi --json',
  'sms send 99112233 hi --dry-run',
  'email send a@b.mn --subject s --text t -v',
  'verify create 99112233 -v',
  'verify check v 123456 -v',
  'verify get v',
  'messages get a b c -v',
  'batches get a --messages',
  'sms bulk list.csv --text hi --yes --job constant -v --max-wait 300ms',
  'sms bulk list.csv --text Hi-{name} --yes --max-wait 300ms --report report.csv',
  'sms bulk bad.csv --text hi --yes',
  'sms bulk list.csv --text hi --dry-run --json',
  'jobs list --json',
  'jobs show constant',
  'jobs report constant --offline',
  'jobs resume constant -v --max-wait 300ms',
  'profiles list',
  'profiles show --json',
  'completion bash',
  'help environment',
  'nope',
  'balance --nope',
];

/** Of them for the real command: what its process adds is the same for all. */
const ofProcess = [
  'balance -v',
  'doctor -v',
  'sms send 99112233 hi -v',
  'email send a@b.mn --subject s --text t -v',
  'verify check v 123456 -v',
  'messages get a b c -v',
  'sms bulk list.csv --text hi --yes --job constant -v --max-wait 300ms',
  'sms bulk list.csv --text Hi-{name} --yes --max-wait 300ms --report report.csv',
  'jobs resume constant -v --max-wait 300ms',
  'help environment',
  'nope',
];

/** Names of the files in a folder that have a text in them. */
function filesWith(text: string, folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}

type Options = { env?: NodeJS.ProcessEnv; input?: string };
const binary = (line: string, options: Options) =>
  machine.run(line.split(' '), { ...options, cwd: machine.home });
const inProcess = (line: string, { env, input = '' }: Options) =>
  run(line, { env: machine.environment(env), home: machine.home, cwd: machine.home, stdin: input });

describe('the key', () => {
  it.each([
    ['accepts', 'the real command', binary, ofProcess],
    ['accepts', 'every line', inProcess, lines],
    ['refuses', 'every line', inProcess, lines],
    ['quotes', 'every line', inProcess, lines],
    ['drops', 'every line', inProcess, lines],
  ] as const)(
    'is in no output and no file but the profile that keeps it, when the service %s: %s',
    async (how, _, urtuu, typed) => {
      mood = 'accepts';
      const url = `${server.origin}/v1`;
      const login = await urtuu(`login --api-key-file - --base-url ${url} -v`, { input: key });
      expect(login.code).toBe(0);
      mood = how;
      const before = server.requests.length;
      const ways: NodeJS.ProcessEnv[] = [{}, { URTUU_API_KEY: key, URTUU_BASE_URL: url }];
      let said = login.stdout + login.stderr;
      for (const [index, line] of typed.entries()) {
        const env = ways[index % ways.length] ?? {};
        const { stdout, stderr } = await urtuu(`${line} --max-retries 0`, { env });
        said += stdout + stderr;
      }
      const file = await urtuu('balance -v --api-key-file key.txt', {});
      said += file.stdout + file.stderr;

      expect(server.requests.length).toBeGreaterThan(before + 10);
      for (const { headers } of server.requests.slice(before)) {
        expect(headers.authorization).toBe(`Bearer ${key}`);
      }
      expect(said.length).toBeGreaterThan(5_000);
      for (const part of [key, key.slice(6), Buffer.from(key).toString('base64').slice(0, 24)]) {
        expect(said).not.toContain(part);
      }
      expect(filesWith(key, machine.home).sort()).toEqual([
        join(machine.home, 'config/urtuu/config.json'),
        join(machine.home, 'key.txt'),
      ]);
      expect(filesWith('list.csv', machine.home).length).toBeGreaterThan(0);
    },
  );

  it('of the sandbox and of serve is in no file in the clear', async () => {
    const { stdout } = await machine.run(['keys', 'create', '--json']);
    const { secret } = JSON.parse(stdout);
    expect(secret).toMatch(/^urtuu_/);
    expect(filesWith(secret, machine.home)).toEqual([]);
  });
});

it('profiles that many processes save at once are all there', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `at-once-${index}`);
  const words = ['--base-url', 'http://127.0.0.1:1/v1', '--max-retries', '0', '--api-key-file', '-'];
  const saved = await Promise.all(
    names.map((name) => machine.run(['login', '--profile', name, ...words], { input: key })),
  );
  expect(saved.map(({ code }) => code)).toEqual(names.map(() => 0));
  const { stdout } = await machine.run(['profiles', 'list', '--json']);
  expect(JSON.parse(stdout).map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(names));
});
