// The installed package as a service, with every store, carrier and page; `npm run test:nodes` runs it on each Node.js.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { newDatabase } from '../support/postgres.js';
import { Consumer } from './consumer.js';

const consumer = new Consumer();
const children: ChildProcess[] = [];
beforeAll(async () => {
  await consumer.install(await consumer.pack());
  if (Number.parseFloat((await consumer.node('--version')).slice(1)) < 22.16) consumer.addEngine();
}, 60_000);
afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    await ended;
  }
});
afterAll(() => consumer.remove());

/** The row that a command prints. */
async function rowOf(words: string[], env: NodeJS.ProcessEnv = {}) {
  const { stdout, stderr } = await consumer.run(
    join(consumer.folder, 'node_modules/.bin/urtuu'),
    [...words, '-o', 'json'],
    { HOME: consumer.home(), ...env },
  );
  expect(stderr).not.toMatch(/warning/i);
  return JSON.parse(stdout);
}

async function serve(words: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(
    consumer.nodePath,
    [
      'node_modules/urtuu/bin/urtuu.js',
      'serve',
      '--drain-time',
      '0',
      '--port',
      '0',
      '-o',
      'ndjson',
      ...words,
    ],
    { cwd: consumer.folder, env: { PATH: process.env.PATH, HOME: consumer.home(), ...env } },
  );
  children.push(child);
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const ended = once(child, 'close').then(() => Promise.reject(new Error(errors)));
  ended.catch(() => {});
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const { base_url, api_key } = JSON.parse(line);
  return { origin: new URL(base_url).origin, env: { URTUU_BASE_URL: base_url, URTUU_API_KEY: api_key } };
}

const send = (env: NodeJS.ProcessEnv) => rowOf(['sms', 'send', '99112233', 'Сайн уу'], env);

it('serves files, is backed up and shows its pages', async () => {
  const data = ['--data', join(consumer.folder, 'data')];
  const { origin, env } = await serve(data);
  expect(await send(env)).toMatchObject({ status: 'sent' });
  const backup = join(consumer.folder, 'backup');
  expect(await rowOf(['service', 'backup', backup, ...data])).toMatchObject({ messages: 1, deliveries: 1 });
  expect(readdirSync(backup)).toContain('service.db');

  const { url } = await rowOf(['dashboard', '--no-open', ...data]);
  expect(url.startsWith(origin)).toBe(true);
  expect((await fetch(url)).status).toBe(200);
  const signedIn = await fetch(`${origin}/dashboard/sign-in`, {
    method: 'POST',
    headers: { origin },
    body: new URLSearchParams({ token: new URL(url).searchParams.get('token') ?? '' }),
    redirect: 'manual',
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await fetch(`${origin}/dashboard/messages`, { headers: { cookie } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('99112233')]);
});

it('serves a PostgreSQL database, with commands of its owner', async () => {
  const secret = join(consumer.folder, 'urtuu.secret');
  writeFileSync(secret, '7'.repeat(64));
  const database = { URTUU_DATABASE: await newDatabase(), URTUU_SECRET_FILE: secret };
  const { env } = await serve([], database);
  expect(await send(env)).toMatchObject({ status: 'sent' });
  expect(await rowOf(['service', 'credit', '500'], database)).toEqual({ balance: 100_490 });
  expect(await rowOf(['service', 'verify'], database)).toEqual([]);
});

it('sends mail over a relay', async () => {
  const taken: string[] = [];
  const relay = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      taken.push(...session.envelope.rcptTo.map(({ address }) => address));
      stream.resume().on('end', done);
    },
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => relay.close(() => resolve())));
  const { port } = relay.server.address() as { port: number };
  const config = join(consumer.folder, 'service.json');
  const email = { smtp: `smtp://127.0.0.1:${port}`, tls: 'off', from: 'no-reply@example.mn' };
  writeFileSync(config, JSON.stringify({ sms: 'off', email }));
  const { env } = await serve(['--config', config, '--data', join(consumer.folder, 'real')]);
  const mail = [
    'email',
    'send',
    'bold@example.com',
    '--subject',
    'Тавтай морил',
    '--text',
    'Сайн уу',
    '--wait',
  ];
  expect(await rowOf(mail, env)).toMatchObject({ status: 'sent' });
  expect(taken).toEqual(['bold@example.com']);
});
