import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Batch, Message } from '../../../src/contract/index.js';
import { Smsc } from '../../support/smsc.js';
import { needProgram } from '../programs.js';
import { startService, until } from './service.js';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const isOpen = (port: number) =>
  new Promise<true | null>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('connect', () => socket.destroy()).on('error', () => resolve(null));
  });

/** Kannel over a centre of ours, and a service that has it as its gateway. `core`, `smsc`: more of its configuration. */
async function startKannel({ core = {}, smsc = {} } = {}) {
  for (const box of ['bearerbox', 'smsbox']) needProgram(`/usr/sbin/${box}`, 'kannel');
  const centre = new Smsc();
  const centrePort = await centre.listen();
  const [admin, boxes, sends, own] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-kannel-'));
  const file = join(folder, 'kannel.conf');
  const groups = [
    {
      group: 'core',
      'admin-port': admin,
      'admin-password': 'x',
      'smsbox-port': boxes,
      'dlr-storage': 'internal',
      ...core,
    },
    {
      group: 'smsc',
      smsc: 'smpp',
      host: '127.0.0.1',
      port: centrePort,
      'transceiver-mode': 'true',
      'smsc-username': 'kannel',
      'smsc-password': 'secret',
      'system-type': '""',
      'reconnect-delay': 1,
      ...smsc,
    },
    { group: 'smsbox', 'bearerbox-host': '127.0.0.1', 'sendsms-port': sends },
    {
      group: 'sendsms-user',
      username: 'shop',
      password: 'secret',
      concatenation: 'true',
      'max-messages': 10,
    },
  ];
  const lines = groups.map((group) => Object.entries(group).map(([name, value]) => `${name} = ${value}\n`));
  writeFileSync(file, lines.map((group) => group.join('')).join('\n'));
  let running: ChildProcess[] = [];
  const start = async () => {
    for (const [box, port] of [
      ['bearerbox', boxes],
      ['smsbox', sends],
    ] as const) {
      running.push(spawn(`/usr/sbin/${box}`, [file], { stdio: 'ignore', cwd: folder }));
      await until(() => isOpen(port));
    }
    await until(async () => (centre.receivers.size > 0 ? true : null));
  };
  const kill = () => {
    for (const box of running) box.kill('SIGKILL');
    running = [];
  };
  onTestFinished(async () => {
    kill();
    await centre.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  const route = {
    name: 'kannel',
    gateway: 'kannel',
    http: `http://127.0.0.1:${sends}/cgi-bin/sendsms`,
    query: { username: 'shop', password: { env: 'KANNEL_PASSWORD' }, from: '139911' },
    receipts: { token: { env: 'RECEIPTS_TOKEN' } },
    receipt_base: `http://127.0.0.1:${own}`,
    concurrent: 5,
    per_second: 50,
    prefixes: ['88', '99'],
  };
  const configuration = { email: 'off', sms: { routes: [route] } };
  const serve = (password: string) =>
    startService(
      configuration,
      { KANNEL_PASSWORD: password, RECEIPTS_TOKEN: 'receipts-0123456789' },
      () => {},
      own,
    );
  return { centre, serve, start, kill };
}

it('Kannel takes SMS in Latin and Cyrillic, and its receipts decide their delivery', async () => {
  const { centre, serve } = await startKannel();
  centre.options.onTaken = (segment, answer) => {
    answer();
    setImmediate(() => centre.sendReceipt(segment, segment.to === '99112234' ? 'UNDELIV' : 'DELIVRD'));
  };
  const { json, check } = await serve('secret');
  expect(await check()).toMatchObject({ code: 0 });
  const cyrillic = 'Сайн байна уу? Таны захиалга бэлэн боллоо & 100% [+]. '.repeat(3);
  const deliveries = [];
  for (const [to, text] of [
    ['99112233', 'Order 17 & more: 100% [+] @ {number}'],
    ['99112235', cyrillic],
    ['99112234', 'Hi'],
  ] as const) {
    const { id, status } = await json<Message>('sms', 'send', to, text);
    const { delivery } = await until(async () => {
      const message = await json<Message>('messages', 'get', id);
      return message.delivery === null ? null : message;
    });
    deliveries.push([status, delivery]);
  }
  expect(deliveries).toEqual([
    ['sent', 'delivered'],
    ['sent', 'delivered'],
    ['sent', 'undelivered'],
  ]);
  const textTo = (to: string) =>
    centre.taken
      .filter((one) => one.to === to)
      .map(({ text }) => text)
      .join('');
  expect(textTo('99112233')).toBe('Order 17 & more: 100% [+] @ {number}');
  expect(textTo('99112235')).toBe(cyrillic);
});

it('Kannel refuses a wrong password: nothing is sent, and the sender gets the credits back', async () => {
  const { centre, serve } = await startKannel();
  const { run } = await serve('wrong');
  const { code, stderr } = await run(['sms', 'send', '99112233', 'Hi']);
  expect([code, centre.taken.length]).toEqual([9, 0]);
  expect(stderr).toContain('HTTP 403');
}, 60_000);

it('Kannel refuses a number without a route, and delays nobody else', async () => {
  const { centre, serve } = await startKannel({ smsc: { 'denied-prefix': '97688' } });
  const { run } = await serve('secret');
  const refused = await run(['sms', 'send', '88112233', 'Hi']);
  expect([refused.code, refused.stderr]).toEqual([9, expect.stringContaining('HTTP 403')]);
  expect((await run(['sms', 'send', '99112233', 'Hi'])).code).toBe(0);
  expect(centre.taken.map(({ to }) => to)).toEqual(['99112233']);
}, 60_000);

it('Kannel whose queue is full gets every message later, once', async () => {
  const limits = { core: { 'sms-outgoing-queue-limit': 3 }, smsc: { 'max-pending-submits': 1 } };
  const { centre, serve } = await startKannel(limits);
  const { json, run } = await serve('secret');
  centre.options.react = () => 'held';
  const to = Array.from({ length: 8 }, (_, index) => String(99_112_200 + index));
  const { stdout } = await run([
    ...['api', 'POST', '/v1/sms/bulk', '-f', 'text=Hi', '-F', `to=${JSON.stringify(to)}`],
  ]);
  const { id } = JSON.parse(stdout) as Batch;
  const statuses = async () =>
    (await json<Message[]>('messages', 'list', '--batch', id)).map(({ status }) => status);
  await until(async () => ((await statuses()).includes('sent') ? true : null));
  // Longer than the first pause of a message that was too fast.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await statuses()).toContain('queued');
  delete centre.options.react;
  centre.release();
  await until(async () => ((await statuses()).every((status) => status === 'sent') ? true : null), 120_000);
  await until(async () => (centre.taken.length === to.length ? true : null));
  expect(centre.taken.map((one) => one.to).sort()).toEqual(to);
}, 200_000);

it('Kannel killed in the middle has nobody get a message twice', async () => {
  const { centre, serve, start, kill } = await startKannel();
  const { json, run } = await serve('secret');
  const to = Array.from({ length: 100 }, (_, index) => String(99_112_200 + index));
  let killed: Promise<void> | null = null;
  centre.options.onTaken = (segment, answer) => {
    answer();
    if (centre.taken.length === 30) {
      kill();
      killed = start();
    } else setImmediate(() => centre.sendReceipt(segment));
  };
  const { stdout } = await run([
    ...['api', 'POST', '/v1/sms/bulk', '-f', 'text=Hi', '-F', `to=${JSON.stringify(to)}`],
  ]);
  const { id } = JSON.parse(stdout) as Batch;
  await until(
    async () => ((await json<Batch>('batches', 'get', id)).status === 'completed' ? true : null),
    500_000,
  );
  await killed;
  const messages = await json<Message[]>('messages', 'list', '--batch', id);
  expect(messages.map(({ status }) => status)).toEqual(to.map(() => 'sent'));
  const times = to.map((number) => centre.taken.filter((one) => one.to === number).length);
  expect(Math.max(...times)).toBe(1);
  for (const { to: number, delivery } of messages)
    if (delivery === 'delivered') expect(centre.taken.some((one) => one.to === number)).toBe(true);
  expect(messages.filter(({ delivery }) => delivery === 'unknown').length).toBeLessThanOrEqual(6);
}, 600_000);
