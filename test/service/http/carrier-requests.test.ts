import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createService, ManualClock } from '../../../src/service/index.js';
import { testFolder } from '../../support/folders.js';

const token = 'receipts-0123456789';
const path = `/receipts/a%20gateway/${token}`;

async function open() {
  const folder = testFolder();
  const file = join(folder, 'service.json');
  const route = {
    name: 'a gateway',
    http: 'http://127.0.0.1:1/',
    form: { to: '{number}', text: '{text}' },
    accepted: { status: [200] },
    receipts: {
      reference: 'ref',
      state: 'state',
      delivered: [1],
      undelivered: [2],
      token: { env: 'TOKEN' },
    },
    prefixes: ['99'],
  };
  writeFileSync(file, JSON.stringify({ sms: { routes: [route] }, email: 'off' }));
  const clock = new ManualClock();
  const warnings: string[] = [];
  const service = await createService({
    configuration: { file, environment: { TOKEN: token } },
    clock,
    metrics: true,
    report: ({ level, code, stack }) => warnings.push(`${level} ${code} ${stack.split('\n')[0]}`),
  });
  onTestFinished(() => service.close());
  const { url } = await service.listen({ port: 0, metrics: true });
  const origin = new URL(url).origin;
  const call = (target: string, init?: RequestInit) => fetch(origin + target, init);
  return { call, clock, warnings };
}

it('requests of carriers are answered without a key, on their own paths only', async () => {
  const { call } = await open();
  const statuses = async (...calls: [string, RequestInit?][]) => {
    const answers = await Promise.all(calls.map((one) => call(...one)));
    return answers.map(({ status }) => status);
  };
  const form = (body: string): RequestInit => ({ method: 'POST', body });
  expect(
    await statuses(
      [`${path}?ref=1&state=1`],
      [path, form('ref=1&state=1')],
      [path, form('x'.repeat(65_537))],
      [path, { method: 'DELETE' }],
      [path, { method: 'HEAD' }],
      [`${path}x`, { method: 'HEAD' }],
      [path, { ...form('<dlr/>'), headers: { 'Content-Type': 'application/xml' } }],
      [`/receipts/a%20gateway/${token}x`],
      [`/receipts/a%zz/${token}`],
      [`/incoming/a%20gateway/${token}`],
      [`${path}/more`],
      ['/v1/balance'],
    ),
  ).toEqual([200, 200, 413, 405, 200, 404, 415, 404, 404, 404, 404, 401]);
  const answer = await call(path);
  expect([await answer.text(), answer.headers.get('content-type')]).toEqual(['', null]);
});

it('requests to an unknown path are counted, and logged at most once a minute without the path', async () => {
  const { call, clock, warnings } = await open();
  const counted = async () =>
    (await (await call('/metrics')).text()).match(/^urtuu_gateway_requests_not_found_total.*$/gm);
  const line = (of: string, count: number) => `urtuu_gateway_requests_not_found_total{path="${of}"} ${count}`;
  expect(await counted()).toEqual([line('receipts', 0), line('incoming', 0)]);
  for (const wrong of [
    `/${token}`,
    `/a%20gateway/${token}x`,
    `/a%20gateway/${token}/`,
    '',
    '?ref=1',
    '/b/c/d',
  ])
    expect((await call(`/receipts${wrong}`)).status).toBe(404);
  expect((await call(`/incoming/a%20gateway/${token}`)).status).toBe(404);
  expect((await call(`${path}?ref=1&state=1`)).status).toBe(200);
  expect((await call('/receiptsx')).status).toBe(404);
  expect(await counted()).toEqual([line('receipts', 6), line('incoming', 1)]);
  clock.advance(60_000);
  await call(`/receipts/${token}`);
  const warning = (count: string) =>
    `warning GatewayRequestsNotFound GatewayRequestsNotFound: ${count} got 404: no route has that path, token or signature`;
  expect(warnings).toEqual([
    warning('1 request to /receipts'),
    warning('1 request to /incoming'),
    warning('6 requests to /receipts'),
  ]);
});

it('requests that cannot be read are counted by route, and logged at most once a minute without the token', async () => {
  const { call, clock, warnings } = await open();
  const counted = async () =>
    (await (await call('/metrics')).text()).match(/^urtuu_gateway_requests_unread_total\{.*$/gm);
  const post = (body: string) => call(path, { method: 'POST', body });
  for (const body of ['nonsense', '{"state":1}', 'state=1', 'ref=1&state=sent', 'ref=1&state=1', ''])
    expect((await post(body)).status).toBe(200);
  await call(`${path}x`, { method: 'POST', body: 'nonsense' });
  const line = (reason: string, count: number, path = 'receipts') =>
    `urtuu_gateway_requests_unread_total{path="${path}",route="a gateway",reason="${reason}"} ${count}`;
  const none = ['body', 'fields', 'state'].map((reason) => line(reason, 0, 'incoming'));
  expect(await counted()).toEqual([
    line('body', 1),
    line('fields', 2),
    line('state', 1),
    ...none,
    line('unjoined', 1),
  ]);
  clock.advance(60_000);
  await post('nonsense');
  const warning = (count: string) =>
    `warning GatewayRequestsUnread GatewayRequestsUnread: ${count} to /receipts/a gateway could not be read: expected a form or JSON with the fields of the route`;
  expect(warnings.filter((line) => line.includes('Unread'))).toEqual([
    warning('1 request'),
    warning('3 requests'),
  ]);
});
