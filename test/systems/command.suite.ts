import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { Machine, outcomeOf } from './machine.js';
import { TestService } from './service.js';

const windows = process.platform === 'win32';
const version = JSON.parse(
  readFileSync(join(process.env.URTUU_TEST_ROOT ?? '.', 'package.json'), 'utf8'),
).version;

let machine: Machine;
let service: TestService;
before(async () => {
  service = await TestService.start();
});
after(() => service.close());
beforeEach(() => {
  machine = new Machine();
  service.hold = Promise.resolve();
});
afterEach(() => machine.remove());

const run = (args: string[], env: NodeJS.ProcessEnv = service.env, input = '') =>
  machine.run(args, env, input);

/** Runs a command that has to end so; gives what it printed. */
async function ends(code: number, args: string[], env?: NodeJS.ProcessEnv, input?: string) {
  const outcome = await run(args, env, input);
  assert.equal(
    outcome.code,
    code,
    `${args.join(' ')} ended with ${outcome.code}: ${outcome.stdout}${outcome.stderr}`,
  );
  return outcome;
}

const list = (name: string, rows: readonly string[]) =>
  writeFileSync(join(machine.home, name), `phone,name\r\n${rows.join('\r\n')}\r\n`);
const bulk = (file: string, job: string, ...more: string[]) => {
  return ['sms', 'bulk', file, '--text', 'Сайн уу {name}', '--job', job, '--yes', '--rate', '500', ...more];
};

describe('the command', () => {
  it('says its version and helps', async () => {
    assert.equal((await ends(0, ['--version'])).stdout, `${version}\n`);
    assert.match((await ends(0, ['sms', 'bulk', '--help'])).stdout, /^Usage: urtuu sms bulk/);
    assert.match((await ends(0, ['completion', 'powershell'])).stdout, /Register-ArgumentCompleter/);
  });

  it('sends, looks up, and ends with the codes of its table', async () => {
    const sent = JSON.parse((await ends(0, ['sms', 'send', '88001122', 'Сайн уу', '--json'])).stdout);
    assert.equal(sent.status, 'sent');
    const found = JSON.parse((await ends(0, ['messages', 'get', sent.id, '--json'])).stdout);
    assert.equal(found.to, '88001122');
    await ends(
      0,
      ['email', 'send', 'bat@example.mn', '--subject', 's', '--text', '-'],
      service.env,
      'Сайн уу',
    );
    await ends(0, ['balance']);
    await ends(2, ['sms', 'send', '--nope']);
    await ends(2, ['sms', 'send']);
    await ends(4, ['balance'], { ...service.env, URTUU_API_KEY: 'urtuu_wrong' });
    await ends(4, ['balance'], {});
    await ends(5, ['balance'], { ...service.env, URTUU_BASE_URL: 'http://127.0.0.1:9/v1' });
    await ends(8, ['sms', 'send', 'nobody', 'hi']);
    await ends(12, ['messages', 'get', 'ffffffff-ffff-4fff-8fff-ffffffffffff']);
    await ends(13, ['sms', 'send', '88001122', '--text-file', 'none.txt']);
    await ends(0, ['doctor']);
  });

  it('keeps a profile, and takes its key from a command', async () => {
    const { URTUU_API_KEY: key, URTUU_BASE_URL: url } = service.env;
    await ends(0, ['login', '--api-key-file', '-', '--base-url', url], {}, `${key}\n`);
    assert.match((await ends(0, ['balance', '--json'], {})).stdout, /balance/);
    await ends(0, ['login', '--profile', 'work', '--key-command', `echo ${key}`, '--base-url', url], {});
    await ends(0, ['balance', '--profile', 'work'], {});
    assert.equal(JSON.parse((await ends(0, ['profiles', 'list', '--json'], {})).stdout).length, 2);
    await ends(0, ['logout', '--profile', 'work', '--yes'], {});
  });

  it('waits for a program that has its configuration open', { skip: !windows }, async () => {
    const { URTUU_API_KEY: key, URTUU_BASE_URL: url } = service.env;
    const login = ['login', '--api-key-file', '-', '--base-url', url];
    await ends(0, login, {}, key);
    const file = await open(join(machine.home, 'Roaming/urtuu/config.json'), 'r');
    const child = machine.start([...login, '--profile', 'second'], {});
    const outcome = outcomeOf(child);
    child.stdin?.end(key);
    setTimeout(() => file.close(), 800);
    assert.equal((await outcome).code, 0);
    assert.equal(JSON.parse((await ends(0, ['profiles', 'list', '--json'], {})).stdout).length, 2);
  });

  it('has a sandbox, whose data stays', async () => {
    await ends(0, ['sms', 'send', '88001122', 'Сайн уу', '--sandbox'], {});
    const [sent] = JSON.parse((await ends(0, ['sandbox', 'outbox', '--json'], {})).stdout);
    assert.equal(sent.text, 'Сайн уу');
    await ends(0, ['sandbox', 'reset', '--yes'], {});
    assert.equal((await ends(0, ['sandbox', 'outbox', '--json'], {})).stdout.trim(), '[]');
  });

  it('serves, is killed, and serves again with its data', async () => {
    let key: string | null = null;
    for (const sent of [1, 2]) {
      const child = machine.start(['serve', '--drain-time', '0', '--port', '0', '-o', 'ndjson'], {});
      const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
      const said = JSON.parse(String(line));
      key ??= said.api_key;
      const env = { URTUU_API_KEY: key ?? '', URTUU_BASE_URL: said.base_url };
      const { balance } = JSON.parse(
        (await ends(0, ['sms', 'send', '88001122', 'hi', '--json'], env)).stdout,
      );
      assert.equal(balance, 100_000 - 10 * sent);
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });
});

describe('a bulk job', () => {
  const rows = Array.from(
    { length: 40 },
    (_, index) => `${86_000_000 + index},${index % 4 === 0 ? `N${index}` : 'Бат'}`,
  );

  it('is sent once, listed, reported twice, refused a second time, and removed', async () => {
    list('нэрс list.csv', rows);
    const first = JSON.parse((await ends(0, bulk('нэрс list.csv', 'july', '--json'))).stdout);
    assert.deepEqual([first.planned, first.accepted], [40, 40]);
    await ends(11, bulk('нэрс list.csv', 'july'));
    assert.equal(JSON.parse((await ends(0, ['jobs', 'list', '--json'])).stdout).length, 1);
    await ends(0, ['jobs', 'show', 'july']);
    for (const _ of ['new', 'over the first'])
      await ends(0, ['jobs', 'report', 'july', '--report', 'report.csv']);
    assert.equal(readFileSync(join(machine.home, 'report.csv'), 'utf8').trim().split('\n').length, 41);
    await ends(0, ['jobs', 'remove', 'july']);
    assert.deepEqual(readdirSync(machine.jobs), []);
    await ends(12, ['jobs', 'show', 'july']);
  });

  it('comes from standard input, and its bad rows go into a file', async () => {
    const csv = 'phone,name\n86000001,Бат\nnobody,Болд\n';
    const words = bulk('-', 'bad', '--skip-invalid', '--rejects', 'rejects.csv');
    await ends(3, words, service.env, csv);
    assert.match(readFileSync(join(machine.home, 'rejects.csv'), 'utf8'), /nobody/);
    await ends(8, bulk('-', 'none', '--rejects', 'rejects.csv'), service.env, csv);
  });

  it('is worked on by one process at a time, and free when that was killed', async () => {
    list('list.csv', rows);
    let release = () => {};
    service.hold = new Promise((resolve) => {
      release = resolve;
    });
    const posted = service.posted(1);
    const child = machine.start(bulk('list.csv', 'july'), service.env);
    const ended = outcomeOf(child);
    await posted;
    for (const words of [bulk('list.csv', 'july', '--json'), ['jobs', 'resume', 'july', '--json']]) {
      const { stderr } = await ends(11, words);
      assert.match(stderr, /"code":\s*"job_locked"/);
      assert.match(stderr, new RegExp(`"pid":\\s*${child.pid}\\b`));
    }
    await ends(11, ['jobs', 'remove', 'july', '--force']);
    await ends(0, ['jobs', 'show', 'july']);
    child.kill('SIGKILL');
    await ended;
    release();
    const result = JSON.parse((await ends(0, ['jobs', 'resume', 'july', '--json'])).stdout);
    assert.equal(result.accepted, 40);
  });

  // The disks of Linux keep both names.
  const skip = process.platform === 'linux';
  it('is told apart from a job whose name has other capitals', { skip }, async () => {
    list('list.csv', rows);
    await ends(0, bulk('list.csv', 'august'));
    const { stderr } = await ends(11, bulk('list.csv', 'August'));
    assert.match(stderr, /the job august/);
    for (const verb of ['show', 'resume', 'report']) await ends(12, ['jobs', verb, 'August']);
  });

  it('may be named like a device of Windows', async () => {
    list('list.csv', rows);
    await ends(0, bulk('list.csv', 'nul'));
    await ends(11, bulk('list.csv', 'nul'));
    await ends(0, ['jobs', 'remove', 'nul']);
    assert.deepEqual(readdirSync(machine.jobs), []);
  });

  it('works in a folder with a long path', async () => {
    const state = join(machine.home, 'a'.repeat(60), 'b'.repeat(60));
    mkdirSync(state, { recursive: true });
    list('list.csv', rows);
    await ends(0, bulk('list.csv', 'deep'), { ...service.env, XDG_STATE_HOME: state });
    assert.ok(existsSync(join(state, 'urtuu/jobs/deep/journal')));
  });
});
