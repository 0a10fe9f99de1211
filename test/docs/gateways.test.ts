import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfiguration } from '../../src/service/carriers/configured/read-configuration.js';
import { CarrierServices } from '../support/carrier-services.js';
import { caller } from '../support/cores.js';
import { answer, FaultyGateway } from '../support/gateway.js';
import { blocksOf, textOf } from './pages.js';

let gateway: FaultyGateway;
let services: CarrierServices;
beforeEach(() => {
  gateway = new FaultyGateway();
  services = new CarrierServices();
});
afterEach(async () => {
  await services.closeAll();
  await gateway.close();
});

/** The gateway of the page: `code` of its answer, null for one that takes the message. */
const codeFor: Readonly<Record<string, number | null>> = {
  '97699000011': 11,
  '97699000013': 13,
  '97699000017': 17,
  '97699000018': 18,
  '97699000050': 50,
};

/** The route that the page writes, piece by piece. */
async function openRoute() {
  const end = textOf('docs/gateways.md').split('\n').indexOf('## Fields');
  const pieces = blocksOf('docs/gateways.md').filter(
    ({ language, line }) => language === 'json' && line < end,
  );
  const written = Object.assign({}, ...pieces.map(({ code }) => JSON.parse(code))) as { http: string };
  expect(written.http).toBe('https://api.sms-shop.example/v2/messages');
  const http = `http://127.0.0.1:${await gateway.listen()}/v2/messages`;
  const { configuration } = services.configured({ routes: [{ ...written, http }] });
  const environment = { SMS_SHOP_KEY: 'key', RECEIPTS_TOKEN: 'receipts-0123456789' };
  await services.open({ configuration: { file: (configuration as { file: string }).file, environment } });
}

it('the route that docs/gateways.md writes delivers, and calls each answer what it is', async () => {
  await openRoute();
  gateway.react = (response, { body, headers }, index) => {
    const { recipient } = JSON.parse(body) as { recipient: string };
    const code = headers['x-api-key'] === 'key' ? (codeFor[recipient] ?? null) : 11;
    answer(200, code === null ? { result: 'OK', message: '5f2a' } : { result: 'ERROR', code })(
      response,
      { method: 'POST', url: '', headers, body, fields: {} },
      index,
    );
  };
  const sent = await services.passed(services.send('99112233', 'Сайн уу'));
  expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } });
  const { body } = gateway.taken[0] ?? { body: '' };
  const { callback, ...rest } = JSON.parse(body);
  expect(rest).toEqual({ recipient: '97699112233', sender: '139911', body: 'Сайн уу' });
  expect(callback).toBe('https://sms.example.mn/receipts/sms-shop/receipts-0123456789');
  const receipt = { message: '5f2a', recipient: '97699112233', event: 'DELIVERED' };
  const isTaken = await services.core.take?.({
    of: 'receipts',
    route: 'sms-shop',
    token: 'receipts-0123456789',
    query: '',
    type: 'application/json',
    body: JSON.stringify(receipt),
  });
  const { id } = sent.body as { id: string };
  expect([isTaken, (await services.core.operations.getMessage(caller, id)).delivery]).toEqual([
    true,
    'delivered',
  ]);
  for (const number of ['99000017', '99000018', '99000013', '99000011'])
    expect(await services.passed(services.send(number, 'Hi'))).toMatchObject({ status: 502 });
  const batch = await services.sendBatch(['99000050'], 'Hi');
  await services.completed(batch);
  expect(await services.messagesOf(batch)).toMatchObject([{ status: 'sent', delivery: 'unknown' }]);
});

it('an unknown outcome stays open for as long as docs/carriers.md says', async () => {
  const [, sms, email] =
    /is open for (\d+) minutes \((\d+) for email\)/.exec(textOf('docs/carriers.md')) ?? [];
  const common = { password: { env: 'PASSWORD' } };
  const routes = [
    { name: 'SMPP', smpp: 'smpp://127.0.0.1:1', system_id: 'x', prefixes: ['95'], ...common },
    {
      ...{ name: 'gateway', http: `http://127.0.0.1:${await gateway.listen()}/`, prefixes: ['99'] },
      ...{ form: { to: '{number}', text: '{text}' }, accepted: { status: [200] } },
    },
  ];
  const relay = { smtp: 'smtp://127.0.0.1:1', from: 'no-reply@example.mn' };
  const minutes: Record<string, number> = {};
  await services.open(services.configured({ routes }, relay), {
    carriers(all) {
      for (const { lanes, doubtMs } of all) for (const lane of lanes) minutes[lane] = doubtMs / 60_000;
      return all;
    },
  });
  expect(minutes).toMatchObject({ SMPP: Number(sms), gateway: Number(sms), email: Number(email) });
  gateway.react = answer(500);
  const batch = await services.sendBatch(['99112233'], 'Hi');
  await services.pass(() => gateway.taken.length === 1);
  const took = await services.pass(
    async () => (await services.messagesOf(batch))[0]?.status === 'sent',
    1_000,
  );
  expect(took / 60_000).toBeCloseTo(Number(sms), 0);
});

it('the route of docs/gateways.md for a gateway that is known is read', () => {
  const block = blocksOf('docs/gateways.md').find(({ code }) => code.includes('"gateway": "kannel"'));
  const { configuration } = services.configured({ routes: [JSON.parse(block?.code ?? '')] });
  const environment = { KANNEL_PASSWORD: 'secret', RECEIPTS_TOKEN: 'receipts-0123456789' };
  const read = readConfiguration({ file: (configuration as { file: string }).file, environment });
  expect(read.sms).toMatchObject({
    routes: [{ name: 'kannel', method: 'GET', receipts: { reference: 'ref' } }],
  });
});

it('the mailbox of docs/email.md is read', () => {
  const block = blocksOf('docs/email.md').find(({ code }) => code.includes('smtp.gmail.com'));
  const { email, sms } = JSON.parse(block?.code ?? '') as { email: object; sms: string };
  const { configuration } = services.configured(sms, email);
  const environment = { SMTP_PASSWORD: 'abcdefghijklmnop' };
  const read = readConfiguration({ file: (configuration as { file: string }).file, environment });
  expect(read).toMatchObject({
    sms: 'off',
    email: {
      ...{ host: 'smtp.gmail.com', port: 465, tls: 'implicit', from: 'shop@gmail.com', bounceDomain: null },
      login: { user: 'shop@gmail.com', password: 'abcdefghijklmnop' },
    },
  });
});
