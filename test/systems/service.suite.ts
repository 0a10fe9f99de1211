import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { loadEngine } from '../../src/service/storage/sqlite/database/engine.js';
import { ask } from './http.js';
import { Machine, outcomeOf } from './machine.js';
import { kill, type Served, serve } from './served.js';

const windows = process.platform === 'win32';

let machine: Machine;
let data: string;
const running: Served[] = [];
beforeEach(() => {
  machine = new Machine();
  data = join(machine.home, 'data');
});
afterEach(async () => {
  for (const one of running.splice(0)) await kill(one);
  machine.remove();
});

async function started(...words: string[]): Promise<Served> {
  const served = await serve(machine, ['--data', data, ...words]);
  running.push(served);
  return served;
}

async function stop(served: Served): Promise<void> {
  running.splice(running.indexOf(served), 1);
  await kill(served);
}

/** Runs a command that has to end so; gives the row that it printed. */
async function ends(code: number, words: string[], env: NodeJS.ProcessEnv = {}, input = '') {
  const outcome = await machine.run([...words, '-o', 'json'], env, input);
  assert.equal(
    outcome.code,
    code,
    `${words.join(' ')} ended with ${outcome.code}: ${outcome.stdout}${outcome.stderr}`,
  );
  return { row: outcome.stdout === '' ? null : JSON.parse(outcome.stdout), stderr: outcome.stderr };
}

/** The same, of an owner's command. */
const owner = (code: number, ...words: string[]) => ends(code, [...words, '--data', data]);
const send = (code: number, to: string, env: NodeJS.ProcessEnv) =>
  ends(code, ['sms', 'send', to, 'Сайн уу'], env);

describe('the service', () => {
  it('takes commands of its owner while it runs, and serves its data again after a kill', async () => {
    const first = await started();
    await send(0, '99112233', first.env);
    const { row: key } = await owner(0, 'service', 'keys', 'create', '--label', 'Дэлгүүр');
    await send(0, '99112234', { ...first.env, URTUU_API_KEY: key.secret });
    await owner(0, 'service', 'credit', '500', '--note', 'gift');
    assert.equal((await owner(0, 'service', 'status')).row[0].lane !== undefined, true);
    assert.equal((await owner(0, 'service', 'ledger')).row.length, 4);
    await owner(0, 'service', 'settings', 'set', 'brand_name', 'Өртөө');
    await owner(0, 'service', 'prune', '--older-than', '3d', '--yes');
    assert.deepEqual((await owner(0, 'service', 'verify')).row, []);
    await stop(first);
    const second = await started();
    assert.equal(second.key, null);
    await send(0, '99112235', { ...first.env, URTUU_BASE_URL: second.url });
    assert.equal((await owner(0, 'sandbox', 'outbox')).row.length, 3);
    assert.deepEqual((await owner(0, 'service', 'verify')).row, []);
  });

  it('is shared by two processes, of which one is killed again and again', async () => {
    const first = await started();
    for (let round = 0; round < 3; round += 1) {
      const second = await started();
      const env = { ...first.env, URTUU_BASE_URL: second.url };
      await Promise.all([send(0, `9911220${round}`, first.env), send(0, `9911230${round}`, env)]);
      await stop(second);
    }
    assert.equal((await owner(0, 'sandbox', 'outbox')).row.length, 6);
    assert.deepEqual((await owner(0, 'service', 'verify')).row, []);
  });

  it('is backed up while it runs, restored once it has ended, and held until it is released', async () => {
    const first = await started();
    await send(0, '99112233', first.env);
    const backup = join(machine.home, 'нөөц', 'one');
    assert.deepEqual((await owner(0, 'service', 'backup', backup)).row, {
      backup,
      messages: 1,
      deliveries: 1,
    });
    await send(0, '99112234', first.env);
    await owner(11, 'service', 'restore', backup, '--yes');
    await send(0, '99112235', first.env);
    await stop(first);

    const { row } = await owner(0, 'service', 'restore', backup, '--yes');
    assert.ok(existsSync(join(row.replaced, 'service.db')));
    assert.deepEqual(
      readdirSync(data).filter((name) => name.startsWith('restoring')),
      [],
    );
    const second = await started();
    const env = { ...first.env, URTUU_BASE_URL: second.url };
    await send(6, '99112236', env);
    await owner(0, 'service', 'release', '--finish-as', 'queue', '--yes');
    await send(0, '99112236', env);
    const outbox = (await owner(0, 'sandbox', 'outbox')).row.map(({ to }: { to: string }) => to);
    assert.deepEqual(outbox, ['99112233', '99112236']);
    // And onto nothing.
    const elsewhere = join(machine.home, 'elsewhere');
    await ends(0, ['service', 'restore', backup, '--data', elsewhere]);
    assert.ok(existsSync(join(elsewhere, 'service.db')));
  });

  it('is not restored while a program has one of its files open: then nothing is changed', {
    skip: !windows,
  }, async () => {
    const first = await started();
    await send(0, '99112233', first.env);
    const backup = join(machine.home, 'backup');
    await owner(0, 'service', 'backup', backup);
    await send(0, '99112234', first.env);
    await stop(first);
    const files = () => readdirSync(data).filter((name) => !/-(?:wal|shm)$/.test(name));
    const before = files();
    const { DatabaseSync } = await loadEngine();
    // Without a lock, since it has read nothing.
    const held = new DatabaseSync(join(data, 'operator.db'));
    const { stderr } = await owner(11, 'service', 'restore', backup, '--yes');
    assert.match(stderr, /operator\.db/);
    held.close();
    assert.deepEqual(files(), before);
    assert.equal((await owner(0, 'sandbox', 'outbox')).row.length, 2);
    await owner(0, 'service', 'restore', backup, '--yes');
    assert.equal((await owner(0, 'sandbox', 'outbox')).row.length, 1);
  });

  it('keeps its first key in a file where nobody reads what it prints', async () => {
    const child = machine.start(['serve', '--drain-time', '0', '--port', '0', '--data', data]);
    const ended = outcomeOf(child);
    const key = join(data, 'api-key');
    const told = new Promise<void>((resolve) => {
      let said = '';
      child.stderr?.on('data', (text) => {
        said += text;
        if (/Wrote the first API key to (.*)\. Move it/.exec(said)?.[1] === key) resolve();
      });
    });
    await Promise.race([told, ended]);
    assert.match(readFileSync(key, 'utf8'), /^urtuu_\w{40}\n$/);
    if (!windows) assert.equal(statSync(key).mode & 0o777, 0o600);
    child.kill('SIGKILL');
    assert.doesNotMatch((await ended).stdout, /urtuu_/);
  });

  it('says that an address is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    after(() => server.close());
    const { port } = server.address() as { port: number };
    const { stderr } = await ends(13, ['serve', '--port', String(port), '--data', data]);
    assert.match(stderr, /address in use/);
  });

  it('shows its dashboard beyond this machine, under its public name alone', async () => {
    const origin = 'https://sms.example.mn';
    const served = await started('--host', '0.0.0.0', '--dashboard', '--public-url', origin);
    const { row } = await owner(0, 'dashboard', '--no-open');
    assert.ok(row.url.startsWith(`${origin}/dashboard/sign-in?token=`));
    const { port } = new URL(served.url);
    const at = `http://127.0.0.1:${port}`;
    const host = 'sms.example.mn';
    const token = new URL(row.url).searchParams.get('token') ?? '';
    assert.equal((await ask(`${at}/dashboard/sign-in?token=${token}`)).status, 421);
    const page = await ask(`${at}/dashboard/sign-in?token=${token}`, { host });
    assert.equal(page.status, 200);
    const answer = await ask(`${at}/dashboard/sign-in`, { host, origin }, { token });
    assert.equal(answer.status, 303);
    const [cookie = ''] = answer.headers['set-cookie']?.[0]?.split(';') ?? [];
    assert.match(answer.headers['set-cookie']?.[0] ?? '', /; Secure$/);
    assert.equal((await ask(`${at}/dashboard`, { host })).status, 401);
    const overview = await ask(`${at}/dashboard`, { host, cookie });
    assert.equal(overview.status, 200);
    assert.match(overview.text, /<main/);
  });
});
