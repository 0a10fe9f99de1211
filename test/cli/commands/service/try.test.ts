import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { emptyFolder } from '../../../support/folders.js';
import { answer, FaultyGateway } from '../../../support/gateway.js';
import { Relay, type RelayOptions } from '../../../support/relay.js';
import { httpRoute, smppRoute } from '../../../support/routes.js';
import { run } from '../../../support/run.js';
import { Smsc, type SmscOptions } from '../../../support/smsc.js';

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
  for (const [route, to, kind] of [
    ['none', '99112233', 'SMS'],
    ['gateway', 'bat@example.mn', 'email'],
    ['email', 'bat@example.mn', 'email'],
    ['email', '99112233', 'SMS'],
  ])
    expect(await here(`service try ${route} ${to} Hi --config service.json --yes`)).toMatchObject({
      code: 13,
      stderr: expect.stringContaining(`there is no route for ${kind} called "${route}"`),
    });
  expect(gateway.taken).toEqual([]);
});

async function answered(recipient: string, configuration: object) {
  writeFileSync(join(home, 'service.json'), JSON.stringify(configuration));
  const route = recipient.includes('@') ? 'email' : 'Mobicom';
  const sending = `service try ${route} ${recipient} 'Сайн' --config service.json --yes`;
  const { stderr } = await here(sending);
  const { code, stdout } = await here(`${sending} --json`);
  return { code, answer: JSON.parse(stdout), stderr };
}

it.each<[string, SmscOptions, number, object]>([
  ['accepted', {}, 0, { rule: 'accepted', status: 0, ids: ['2'] }],
  ['throttled', { react: () => 0x58 }, 5, { rule: 'later', status: 0x58 }],
  ['of an unknown number', { react: () => 0x0b }, 5, { rule: 'unknown_recipient', status: 0x0b }],
  ['unanswered', { react: () => 'cut_after' }, 6, { rule: 'unknown', status: null }],
  ['of a wrong password', { bindStatus: () => 0x0e }, 5, { rule: 'not_sent', status: null }],
])('sends one message over SMPP, and shows the answer: %s', async (_, options, code, answer) => {
  const centre = new Smsc({ idOf: String, ...options });
  const port = await centre.listen();
  onTestFinished(() => centre.close());
  const configuration = { email: 'off', sms: { routes: [smppRoute(port, { source: '139911' })] } };
  const shown = await answered('99112233', configuration);
  expect(shown).toMatchObject({ code, answer });
  expect(shown.stderr).toMatch(
    /submit_sm.*source_addr=139911.*destination_addr=97699112233 .*data_coding=8 octets=8/,
  );
  expect(shown.stderr).not.toContain('secret');
});

it.each<[string, RelayOptions['react'], number, object]>([
  ['accepted', () => null, 0, { rule: 'accepted', status: 250, answer: '250 2.0.0 Ok: queued' }],
  [
    'later',
    (step) => (step === 'RCPT' ? '450 4.2.0 Greylisted' : null),
    5,
    { rule: 'later', status: 450, answer: '450 4.2.0 Greylisted' },
  ],
  ['refused', (step) => (step === 'MAIL' ? '550 5.7.1 No' : null), 5, { rule: 'refused', status: 550 }],
  ['unanswered', (step) => (step === 'body' ? 'cut' : null), 6, { rule: 'unknown' }],
  [
    'of a wrong name',
    (step) => (/^[EH]/.test(step) ? '501 No' : null),
    5,
    { rule: 'not_sent', status: null },
  ],
])('sends one email, and shows the answer of the relay: %s', async (_, react, code, answer) => {
  const relay = new Relay(react === undefined ? {} : { react });
  const port = await relay.listen();
  onTestFinished(() => relay.close());
  const email = { smtp: `smtp://127.0.0.1:${port}`, from: 'shop@example.mn', name: 'mail.example.mn' };
  const shown = await answered('bat@example.mn', { email, sms: 'off' });
  expect(shown).toMatchObject({ code, answer });
  expect(shown.stderr).toMatch(/EHLO mail\.example\.mn\nMAIL FROM:<shop@example\.mn>[\s\S]*Subject: /);
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
