import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createService } from '../../../src/service/index.js';

const token = 'receipts-0123456789';
const path = `/receipts/a%20gateway/${token}`;

async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-carrier-requests-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
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
  const service = await createService({ configuration: { file, environment: { TOKEN: token } } });
  onTestFinished(() => service.close());
  const { url } = await service.listen({ port: 0 });
  const origin = new URL(url).origin;
  return (target: string, init?: RequestInit) => fetch(origin + target, init);
}

it('requests of carriers are answered without a key, on their own paths only', async () => {
  const call = await open();
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
      [`/receipts/a%20gateway/${token}x`],
      [`/receipts/a%zz/${token}`],
      [`/incoming/a%20gateway/${token}`],
      [`${path}/more`],
      ['/v1/balance'],
    ),
  ).toEqual([200, 200, 413, 405, 404, 404, 404, 404, 401]);
  const answer = await call(path);
  expect([await answer.text(), answer.headers.get('content-type')]).toEqual(['', null]);
});
