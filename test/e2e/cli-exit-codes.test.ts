import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitMeanings } from '../../src/cli/exit-codes.js';
import { Machine, outcomeOf } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { run } from '../support/run.js';

let machine: Machine;
let server: Loopback;
let verification: string;
let message: string;
const sandbox = { URTUU_SANDBOX: '1' };

beforeAll(async () => {
  machine = new Machine();
  server = await Loopback.listen((request, response) => {
    if (request.path.endsWith('/balance')) {
      json(response, 401, { error: { code: 'unauthorized', message: 'the key is not known' } });
    } else {
      response.socket?.destroy();
    }
  });
  writeFileSync(join(machine.home, 'list.csv'), 'phone\n99112233\n88001122\n');
  writeFileSync(join(machine.home, 'mixed.csv'), 'phone\n99112244\nnobody\n');
  const made = await machine.run(['verify', 'create', '88112233', '--json'], { env: sandbox });
  ({ id: verification } = JSON.parse(made.stdout));
  const sent = await machine.run(['sms', 'send', '99112255', 'hi', '--json'], { env: sandbox });
  ({ id: message } = JSON.parse(sent.stdout));
  const bulk = ['sms', 'bulk', 'list.csv', '--text', 'hi', '--yes', '--job', 'done'];
  await machine.run(bulk, { env: sandbox, cwd: machine.home });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  machine.remove();
});

const refused = () => ({ URTUU_API_KEY: 'k', URTUU_BASE_URL: `${server.origin}/v1` });
/**
 * Every row of the table by a real command line; `$` stands for what only the run knows. The first of each code is a
 * process of its own.
 */
const rows: [exit: number, line: string, env?: () => NodeJS.ProcessEnv][] = [
  [0, 'sms send 99112266 hi'],
  [0, 'email send bat@example.mn --subject s --text t --wait'],
  [2, 'sms sned'],
  [2, 'sms send'],
  [2, 'balance --nope'],
  [2, 'sandbox reset'],
  [2, 'balance --base-url http://example.mn/v1', refused],
  [3, 'messages get $message nothing'],
  [3, 'sms bulk mixed.csv --text hi --yes --skip-invalid'],
  [4, 'balance', () => ({})],
  [4, 'balance', refused],
  [5, 'balance --base-url http://127.0.0.1:1/v1 --max-retries 0', refused],
  [5, 'sms send 99000014 hi --max-retries 0'],
  [6, 'sms send 99000012 hi --max-retries 0'],
  [6, 'sms send 99000015 hi --max-retries 0'],
  [6, 'verify check v 123456', refused],
  [7, 'balance --min 900000000'],
  [7, 'sms bulk list.csv --text hello --yes --max-credits 19'],
  [8, 'sms send 70112233 hi'],
  [8, `sms send 99112233 ${'x'.repeat(751)}`],
  [8, 'sms bulk mixed.csv --text hi --yes'],
  [8, 'messages get -'],
  [9, 'sms send 99000001 hi --max-retries 0'],
  [9, 'email send fault-refused@b.mn --subject s --text t --wait'],
  [10, 'verify check $verification 0000'],
  [8, 'verify check $verification 12a4'],
  [11, 'sms bulk list.csv --text hi --yes --job done'],
  [11, 'sms bulk list.csv --text other --yes --job done'],
  [12, 'messages get nothing'],
  [12, 'jobs show nothing'],
  [13, 'sms send 99112233 --text-file nowhere.txt'],
  [13, 'sms bulk . --text hi --yes'],
  [14, 'email send fault-2s@b.mn --subject s --text t --wait --wait-timeout 200ms'],
];

const firsts = rows.filter(([exit], index) => rows.findIndex(([other]) => other === exit) === index);

describe('the real command', () => {
  it.each(rows)('ends with %i: %s', async (exit, line, env = () => sandbox) => {
    const args = line.replace('$message', message).replace('$verification', verification).split(' ');
    const place = { home: machine.home, cwd: machine.home };
    const people = firsts.some(([, first]) => first === line)
      ? await machine.run(args, { env: env(), cwd: machine.home })
      : await run('', { ...place, argv: args, env: machine.environment(env()) });
    expect(people.code).toBe(exit);
    if (exit === 0) return;
    expect(people.stderr).toMatch(/^(?:urtuu: .+\n {2}\S.*|warning: .+)$/m);
  });

  it('ends with 13 when others can read its configuration', async () => {
    const folder = join(machine.home, 'open', 'urtuu');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), '{"profiles": {}}');
    chmodSync(join(folder, 'config.json'), 0o644);
    const env = { XDG_CONFIG_HOME: join(machine.home, 'open') };
    expect(await machine.run(['balance'], { env })).toMatchObject({ code: 13 });
  });

  it('ends with 1 for what nobody foresaw', async () => {
    const broken = join(machine.home, 'broken.cjs');
    const origin = "{ get() { throw new RangeError('odd'); } }";
    writeFileSync(broken, `Object.defineProperty(URL.prototype, 'origin', ${origin});\n`);
    const env = { ...refused(), NODE_OPTIONS: `--require ${broken}` };
    const { code, stderr } = await machine.run(['balance'], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^urtuu: internal error: RangeError: odd\n {2}Please report it/);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('dies by %s', async (signal) => {
    await using silent = await Loopback.listen(() => child.kill(signal));
    const env = { URTUU_API_KEY: 'k', URTUU_BASE_URL: `${silent.origin}/v1` };
    const child = machine.start(['balance'], { env });
    expect(await outcomeOf(child)).toMatchObject({ code: null, signal, stdout: '', stderr: '' });
  });

  it('leaves no row of the table out', () => {
    const reached = new Set(rows.map(([exit]) => exit));
    const all = Object.keys(exitMeanings).map(Number);
    expect(all.filter((exit) => !reached.has(exit))).toEqual([1]);
  });
});
