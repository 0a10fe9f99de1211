import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answer, FaultyGateway } from '../../../support/gateway.js';
import { run } from '../../../support/run.js';

let home: string;
let gateway: FaultyGateway;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'urtuu-try-'));
  gateway = new FaultyGateway();
  const route = {
    name: 'gateway',
    http: `http://127.0.0.1:${await gateway.listen()}/send`,
    basic: { user: 'shop', password: { env: 'PASSWORD' } },
    form: { to: '{number}', text: '{text}', key: { env: 'PASSWORD' }, dlr: '{receipt_url}' },
    accepted: { status: [200], field: 'status', is: ['0'] },
    id: 'id',
    receipts: { reference: 'ref', state: 's', delivered: [1], undelivered: [2], token: { env: 'TOKEN' } },
    prefixes: ['99'],
  };
  const smpp = {
    name: 'Mobicom',
    smpp: 'smpp://127.0.0.1:1',
    system_id: 'x',
    password: { env: 'PASSWORD' },
    prefixes: ['95'],
  };
  writeFileSync(join(home, 'service.json'), JSON.stringify({ email: 'off', sms: { routes: [route, smpp] } }));
});
afterEach(async () => {
  await gateway.close();
  rmSync(home, { recursive: true, force: true });
});

const env = { PASSWORD: 'top "secret', TOKEN: 'receipts-0123456789' };
const line = (route: string, rest = '--yes') =>
  `service try ${route} 99112233 'Hi there' --config service.json ${rest}`;
const here = (command: string, given = {}) => run(command, { home, cwd: home, env, ...given });

it('sends one message and shows request and answer, without secrets', async () => {
  gateway.react = answer(200, { status: '0', id: 'a1', echo: 'top "secret receipts-0123456789' });
  const { code, stdout, stderr } = await here(line('gateway'));
  expect([code, gateway.taken.length]).toEqual([0, 1]);
  expect(gateway.taken[0]?.fields).toMatchObject({ to: '97699112233', text: 'Hi there', key: 'top "secret' });
  expect(stderr).toContain('Authorization: Basic ***');
  expect(stderr).toContain('text=Hi+there&key=***');
  expect(stdout).toMatch(/accepted[\s\S]*a1/);
  expect(stdout + stderr).not.toMatch(/secret|0123456789/);
});

it('says which rule of the route fits, and exits 5 where the message was not accepted, 6 where nobody knows', async () => {
  const rows = [];
  for (const react of [answer(401), answer(422), answer(429), answer(200, { status: '9' }), answer(500)]) {
    gateway.react = react;
    const { code, stdout } = await here(line('gateway', '--yes --json'));
    rows.push([code, (JSON.parse(stdout) as { row: string }).row]);
  }
  expect(rows).toEqual([
    [5, 'account'],
    [5, 'refused'],
    [5, 'throttled'],
    [6, 'unknown'],
    [6, 'unknown'],
  ]);
  await gateway.close();
  const { code, stdout, stderr } = await here(line('gateway'));
  expect([code, stdout]).toEqual([5, expect.stringContaining('not_sent')]);
  expect(stderr).toContain('Nothing was sent.');
});

it('sends nothing without a yes, to no number and over no route of its own', async () => {
  expect(await here(line('gateway', ''))).toMatchObject({ code: 2 });
  expect(await here("service try gateway abc 'Hi' --config service.json --yes")).toMatchObject({ code: 8 });
  for (const route of ['Mobicom', 'none'])
    expect(await here(line(route))).toMatchObject({
      code: 13,
      stderr: expect.stringContaining(`there is no route over HTTP called "${route}"`),
    });
  expect(gateway.taken).toEqual([]);
});
