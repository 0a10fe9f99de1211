import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, type TestContext } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { createService, type Service } from '../../src/service/index.js';
import { blocksOf } from '../docs/pages.js';
import { root } from '../support/binary.js';
import { needProgram } from './programs.js';

const nginx = '/usr/sbin/nginx';
const haproxy = '/usr/sbin/haproxy';

/** Of the test's context: several run at once. */
type AtEnd = TestContext['onTestFinished'];

/** Longer than the service announces, and than it once kept a connection. */
const idleMs = 17_000;

interface Proxy {
  program: string;
  /** Its configuration, in front of these addresses. */
  configure(port: number, behind: readonly string[]): string;
  /** Whether it passes on the Host that the browser sent. */
  passesHost: boolean;
  /** Whether it keeps its connections to the service. */
  keeps: boolean;
}

const block = (language: string) =>
  blocksOf('docs/running.md').find((each) => each.language === language)?.code ?? '';
const inNginx = (server: string) => `daemon off; pid nginx.pid; error_log stderr; events {}
http { access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u;
scgi_temp_path s; ${server} }`;
/** Of Debian's /etc/haproxy/haproxy.cfg. */
const debian = `defaults
  mode http
  timeout connect 5000
  timeout client 50000
  timeout server 50000
`;

const proxies: Record<string, Proxy> = {
  'nginx as it comes': {
    program: nginx,
    configure: (port, [first]) =>
      inNginx(`server { listen 127.0.0.1:${port};
        location /v1/ { proxy_pass http://${first}; } location /dashboard { proxy_pass http://${first}; } }`),
    passesHost: false,
    keeps: false,
  },
  'nginx of docs/running.md': {
    program: nginx,
    configure: (port, behind) =>
      inNginx(
        block('nginx')
          .replace('443 ssl', `127.0.0.1:${port}`)
          .replace('server 127.0.0.1:7788;', behind.map((each) => `server ${each};`).join(' ')),
      ),
    passesHost: true,
    keeps: true,
  },
  'nginx of deploy/compose.yaml': {
    program: nginx,
    configure(port, [first = '', second = first]) {
      const { configs } = parseYaml(readFileSync(join(root, 'deploy/compose.yaml'), 'utf8'));
      return inNginx(
        (configs.balancer.content as string)
          .replace('listen 80', `listen 127.0.0.1:${port}`)
          .replace('one:7788', first)
          .replace('two:7788', second),
      );
    },
    passesHost: true,
    keeps: true,
  },
  'HAProxy as it comes': {
    program: haproxy,
    configure: (port, [first]) => `${debian}frontend all
  bind 127.0.0.1:${port}
  default_backend urtuu
backend urtuu
  server one ${first}
`,
    passesHost: true,
    keeps: true,
  },
  'HAProxy of docs/running.md': {
    program: haproxy,
    configure: (port, behind) =>
      block('haproxy')
        .replace(/bind .*/, `bind 127.0.0.1:${port}`)
        .replace(
          / {2}server one .*/,
          behind.map((each, index) => `  server s${index} ${each} check inter 2s fall 2`).join('\n'),
        ),
    passesHost: true,
    keeps: true,
  },
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function start(
  { program, configure }: Proxy,
  port: number,
  behind: readonly string[],
  atEnd: AtEnd,
): Promise<void> {
  needProgram(program, program === nginx ? 'nginx' : 'haproxy');
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-proxy-'));
  const file = join(folder, 'proxy.conf');
  writeFileSync(file, configure(port, behind));
  const words = program === nginx ? ['-p', folder, '-c', file, '-g', userOf()] : ['-db', '-f', file];
  const child: ChildProcess = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr?.on('data', (text) => {
    said += text;
  });
  atEnd(async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'close');
    }
    rmSync(folder, { recursive: true, force: true });
  });
  for (let tries = 0; !(await isOpen(port)); tries += 1) {
    if (child.exitCode !== null || tries > 100) throw new Error(`${program} does not listen: ${said}`);
    await sleep(50);
  }
}

/** Workers of a master that root starts write into its folder. */
const userOf = () => (process.getuid?.() === 0 ? 'user root;' : '');

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Between a proxy and the service: counts the connections, and those that the service ended first. */
async function counted(behind: number, atEnd: AtEnd) {
  const counts = { opened: 0, endedByService: 0 };
  const server = createServer((front) => {
    counts.opened += 1;
    const back = connect(behind, '127.0.0.1');
    let isEnded = false;
    let isCheck = false;
    front.once('data', (bytes) => {
      isCheck = String(bytes).startsWith('GET /readyz');
    });
    front.once('end', () => {
      isEnded = true;
    });
    back.once('end', () => {
      if (!isEnded && !isCheck) counts.endedByService += 1;
    });
    front.pipe(back).pipe(front);
    for (const [socket, other] of [
      [front, back],
      [back, front],
    ] as const)
      socket.on('error', () => other.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  return { counts, port: (server.address() as AddressInfo).port };
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  agent?: Agent;
}

/** With a path as it is written. */
const ask = (port: number, path: string, { method = 'GET', headers = {}, body, agent }: Asked = {}) =>
  new Promise<{ status: number; text: string; cookie: string; location: string }>((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent }, async (answer) => {
      let text = '';
      for await (const piece of answer) text += piece;
      const [cookie = ''] = (answer.headers['set-cookie']?.[0] ?? '').split(';');
      resolve({ status: answer.statusCode ?? 0, text, cookie, location: answer.headers.location ?? '' });
    });
    outgoing.on('error', (cause) => reject(new Error(`${method} ${path}: ${cause.message}`)));
    outgoing.end(body);
  });

function sending(service: Service, to: string): Asked {
  const headers = { authorization: `Bearer ${service.localKey}`, 'content-type': 'application/json' };
  return { method: 'POST', headers, body: JSON.stringify({ to, text: 'Hello' }) };
}

async function open(publicPort: number, atEnd: AtEnd) {
  const service = await createService({ rates: 'off', metrics: true });
  atEnd(() => service.close());
  const dashboard = { publicUrl: `http://127.0.0.1:${publicPort}` };
  const listening = await service.listen({ port: 0, metrics: true, dashboard });
  return { service, listening, port: Number(new URL(listening.url).port) };
}

describe.concurrent.each(Object.entries(proxies))('behind %s', (_, proxy) => {
  it('the service is reached: idle POSTs, long answers, the dashboard, and no metrics', {
    timeout: 60_000,
  }, async ({ onTestFinished }) => {
    const port = await freePort();
    const { service, port: ownPort } = await open(port, onTestFinished);
    const between = await counted(ownPort, onTestFinished);
    await start(proxy, port, [`127.0.0.1:${between.port}`], onTestFinished);

    // Bodies and answers that are long, and one that takes long.
    const slow = ask(port, '/v1/sms', sending(service, '99000004'));
    const to = Array.from({ length: 1_000 }, (_each, index) => `${88_000_000 + index}`);
    const bulk = { ...sending(service, ''), body: JSON.stringify({ to, text: 'Long '.repeat(50) }) };
    expect((await ask(port, '/v1/sms/bulk', bulk)).status).toBe(202);
    const list = '/v1/messages?limit=100';
    const { headers = {} } = sending(service, '');
    const long = await ask(port, list, { headers });
    expect(JSON.parse(long.text).data).toHaveLength(100);

    // POSTs on connections that were idle.
    const agent = new Agent({ keepAlive: true, maxSockets: 5 });
    onTestFinished(() => agent.destroy());
    const posts = () =>
      Promise.all(
        to.slice(0, 5).map((number) => ask(port, '/v1/sms', { ...sending(service, number), agent })),
      );
    expect((await posts()).map(({ status }) => status)).toEqual(Array(5).fill(200));
    const before = between.counts.endedByService;
    await sleep(idleMs);
    expect((await posts()).map(({ status }) => status)).toEqual(Array(5).fill(200));
    if (proxy.keeps) expect(between.counts.endedByService).toBe(before);
    expect((await slow).status).toBe(200);

    for (const path of [
      '/metrics',
      '/v1/../metrics',
      '/dashboard/../metrics',
      '/v1/%2e%2e/metrics',
      '//metrics',
    ])
      expect((await ask(port, path)).text).not.toContain('urtuu_info');

    // A sign-in, a page and a form.
    const link = new URL((await service.administration.createDashboardLink()) ?? '');
    const page = await ask(port, link.pathname + link.search);
    if (!proxy.passesHost) {
      expect(page.status).toBe(421);
      expect(page.text).toContain(`for the host "127.0.0.1:${between.port}"`);
      return;
    }
    expect(page.status).toBe(200);
    const form = (fields: Record<string, string>, more: Record<string, string> = {}) => ({
      method: 'POST',
      headers: {
        origin: link.origin,
        'content-type': 'application/x-www-form-urlencoded',
        ...more,
      },
      body: String(new URLSearchParams(fields)),
    });
    const token = link.searchParams.get('token') ?? '';
    const { status, cookie, location } = await ask(port, '/dashboard/sign-in', form({ token }));
    expect({ status, location }).toEqual({ status: 303, location: '/dashboard' });
    expect((await ask(port, '/dashboard', { headers: { cookie } })).status).toBe(200);
    const nulled = { cookie, origin: 'null', 'sec-fetch-site': 'same-origin' };
    expect((await ask(port, '/dashboard/keys', form({ label: 'shop' }, nulled))).status).toBe(303);
    expect(await service.administration.listKeys()).toMatchObject([{ label: 'shop' }]);
  });
});

it('HAProxy of docs/running.md turns away from an instance that drains, and no POST is lost', {
  timeout: 60_000,
}, async ({ onTestFinished }) => {
  const proxy = proxies['HAProxy of docs/running.md'] as Proxy;
  const port = await freePort();
  const [one, two] = [await open(port, onTestFinished), await open(port, onTestFinished)];
  await start(proxy, port, [`127.0.0.1:${one.port}`, `127.0.0.1:${two.port}`], onTestFinished);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const statuses = new Map<number, number>();
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      const { status } = await ask(port, '/v1/openapi.json', { method: 'POST', body: '{}', agent });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await sleep(5);
    }
  };
  const clients = Array.from({ length: 8 }, client);
  await sleep(1_000);
  one.service.drain();
  await sleep(5_000);
  await one.listening.close();
  await sleep(3_000);
  isOver = true;
  await Promise.all(clients);
  // The service's own refusal of the method: every POST reached an instance.
  expect([...statuses.keys()]).toEqual([405]);
  expect(statuses.get(405)).toBeGreaterThan(100);
});
