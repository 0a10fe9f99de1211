import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { emptyFolder } from '../../../support/folders.js';
import { answer, FaultyGateway } from '../../../support/gateway.js';
import { httpRoute, smppRoute } from '../../../support/routes.js';
import { run } from '../../../support/run.js';

const home = emptyFolder();
let gateway: FaultyGateway;
beforeEach(async () => {
  gateway = new FaultyGateway();
  const route = httpRoute(await gateway.listen(), {
    basic: { user: 'shop', password: { env: 'PASSWORD' } },
    form: { to: '{number}', text: '{text}', key: { env: 'PASSWORD' }, dlr: '{receipt_url}' },
    id: 'id',
    receipts: { reference: 'ref', state: 's', delivered: [1], undelivered: [2], token: { env: 'TOKEN' } },
  });
  const smpp = smppRoute(1, { prefixes: ['95'] });
  writeFileSync(join(home, 'service.json'), JSON.stringify({ email: 'off', sms: { routes: [route, smpp] } }));
});
afterEach(async () => {
  await gateway.close();
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
  const rules = [];
  for (const react of [answer(401), answer(422), answer(429), answer(200, { status: '9' }), answer(500)]) {
    gateway.react = react;
    const { code, stdout } = await here(line('gateway', '--yes --json'));
    rules.push([code, (JSON.parse(stdout) as { rule: string }).rule]);
  }
  expect(rules).toEqual([
    [5, 'account'],
    [5, 'refused'],
    [5, 'later'],
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

it('service check connects to a gateway without checking its login, and says so unless the route has a check', async () => {
  const check = (format = '') => here(`service check --config service.json ${format}`);
  const file = join(home, 'service.json');
  const { email, sms } = JSON.parse(readFileSync(file, 'utf8')) as {
    email: string;
    sms: { routes: { http: string }[] };
  };
  const write = (changes: object) =>
    writeFileSync(file, JSON.stringify({ email, sms: { routes: [{ ...sms.routes[0], ...changes }] } }));
  const { origin } = new URL(sms.routes[0]?.http ?? '');
  const said = 'The login was not checked for gateway: service try checks it with a message.';
  write({});
  expect(await check()).toMatchObject({ code: 0, stderr: expect.stringContaining(said) });
  expect(JSON.parse((await check('--json')).stdout)[1]).toEqual({
    ...{ check: 'gateway', address: origin },
    ...{ status: 'ok', problem: null },
  });
  expect(gateway.taken).toEqual([]);
  write({ check: { url: `${origin}/balance`, status: [200] } });
  gateway.react = answer(200);
  expect(await check()).toMatchObject({ code: 0, stderr: expect.not.stringContaining('login') });
  expect(gateway.taken.map(({ headers }) => headers.authorization)).toEqual([
    `Basic ${Buffer.from('shop:top "secret').toString('base64')}`,
  ]);
});
