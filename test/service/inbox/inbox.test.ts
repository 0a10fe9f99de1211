import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { statuses } from '../../../src/service/carriers/smpp/codec/commands.js';
import type { SettingsPatch } from '../../../src/service/index.js';
import { Metrics } from '../../../src/service/metrics/metrics.js';
import { bounceOf } from '../../support/bounces.js';
import { CarrierServices } from '../../support/carrier-services.js';
import { caller, ledgerDifference } from '../../support/cores.js';
import { verifyDkim } from '../../support/dkim.js';
import { Relay } from '../../support/relay.js';
import { Smsc } from '../../support/smsc.js';

let services: CarrierServices;
let relay: Relay;
let smsc: Smsc;
let email: object;
let sms: { routes: object[] };

beforeEach(async () => {
  [relay, smsc, services] = [new Relay(), new Smsc(), new CarrierServices()];
  const relayPort = await relay.listen();
  const smscPort = await smsc.listen();
  email = {
    smtp: `smtp://127.0.0.1:${relayPort}`,
    from: 'no-reply@example.mn',
    bounce_domain: 'b.example.mn',
  };
  const common = { smpp: `smpp://127.0.0.1:${smscPort}`, system_id: 'u', password: { env: 'PASSWORD' } };
  sms = { routes: [{ name: 'Mobicom', prefixes: ['99'], ...common }] };
});
afterEach(async () => {
  await services.closeAll();
  await Promise.all([relay.close(), smsc.close()]);
});

const open = () => services.open(services.configured(sms, email));
const administration = () => services.core.administration;
const set = (patch: SettingsPatch) => administration().settings.update(patch);
const receive = (raw: string, ...to: string[]) => administration().receiveMail(Buffer.from(raw), to);
const messageOf = (id: string) => services.core.operations.getMessage(caller, id);
const inbox = async () => (await administration().inbox()).data;
/** Time passes, and the engine has its own to answer. */
const until = (holds: () => boolean, step = 500, longest = 1_200_000) =>
  services.pass(
    async () => {
      await inbox();
      return holds();
    },
    step,
    longest,
  );
const suppressed = async () => (await administration().suppressions.list()).data.map(({ to }) => to);

/** Sends an email: its id and what the relay took. */
async function send(to = 'bold@example.com', isBulk = false) {
  const params = { to, subject: 'Сайн уу', text: 'Сайн уу' };
  const { body } = await services.core.operations.sendEmail({ caller, params, idempotencyKey: null, isBulk });
  const { id } = body as { id: string };
  await services.pass(async () => (await messageOf(id)).status !== 'queued');
  return { id, from: relay.taken.at(-1)?.from ?? '', raw: relay.taken.at(-1)?.raw ?? '' };
}

describe('a bounce', () => {
  it('makes its message bounced, once, and refunds nothing', async () => {
    await open();
    const { id, from } = await send();
    expect(await messageOf(id)).toMatchObject({ status: 'sent', delivery: null });
    const { balance } = await services.core.operations.getBalance(caller);
    expect(await receive(bounceOf(from.toUpperCase()))).toBe('bounced');
    expect(await receive(bounceOf(from))).toBe('bounced');
    expect(await messageOf(id)).toMatchObject({
      ...{ status: 'sent', delivery: 'bounced', carrier_code: '5.1.1', credits: 2 },
    });
    expect((await services.core.operations.getBalance(caller)).balance).toBe(balance);
    expect(await ledgerDifference(services.core)).toBe(0);
    expect(await inbox()).toEqual([]);
  });

  it('comes by the envelope too', async () => {
    await open();
    const { id, from } = await send();
    await receive(bounceOf('postmaster@example.mn'), from);
    expect((await messageOf(id)).delivery).toBe('bounced');
  });

  it.each<[string, (to: string) => string]>([
    ['a delay', (to) => bounceOf(to, { action: 'delayed', status: '4.4.1' })],
    ['a delivery', (to) => bounceOf(to, { action: 'delivered', status: '2.0.0' })],
    ['somebody who is away', (to) => `From: bold@example.com\r\nTo: ${to}\r\n\r\nAction: failed`],
  ])('is no report of %s', async (_, mail) => {
    await open();
    const { id, from } = await send();
    expect(await receive(mail(from))).toBe('ignored');
    expect((await messageOf(id)).delivery).toBeNull();
  });

  it('counts only with the mac of its message', async () => {
    await open();
    const { id, from } = await send();
    const other = from.replace(/\.(.)/, (_, first) => `.${first === '0' ? '1' : '0'}`);
    await expect(receive(bounceOf(other))).rejects.toMatchObject({ code: 'not_found' });
    expect((await messageOf(id)).delivery).toBeNull();
  });

  it('tells what became of a message that ended as unknown, and ends one in doubt', async () => {
    await open();
    relay.options.react = (step) => (step === 'body' ? 'silent' : null);
    const params = { to: 'bold@example.com', subject: 'Hi', text: 'Hi' };
    const ask = async () =>
      (
        (await services.core.operations.sendEmail({ caller, params, idempotencyKey: null })).body as {
          id: string;
        }
      ).id;
    const first = await ask();
    await services.pass(async () => (await messageOf(first)).delivery === 'unknown', 10_000, 3_000_000);
    const second = await ask();
    await until(() => relay.taken.length === 2);
    await until(() => false, 60_000, 700_000).catch(() => {});
    expect(await messageOf(second)).toMatchObject({ status: 'queued' });
    for (const { from } of [...relay.taken]) expect(await receive(bounceOf(from))).toBe('bounced');
    for (const id of [first, second])
      expect(await messageOf(id)).toMatchObject({ status: 'sent', delivery: 'bounced' });
    expect(await ledgerDifference(services.core)).toBe(0);
  });

  it('of a message that is gone is ignored', async () => {
    await open();
    const { from } = await send();
    const { store } = services.core;
    await store.beginReset('test', 1_000);
    await store.reset(1_000, 1_000);
    await store.endReset('test');
    expect(await receive(bounceOf(from))).toBe('ignored');
  });
});

describe('suppressions', () => {
  it('keep a bounced address from later messages, until it is removed', async () => {
    await open();
    await set({ suppressions: true });
    const { from } = await send();
    await receive(bounceOf(from));
    expect((await administration().suppressions.list()).data).toEqual([
      { to: 'bold@example.com', reason: 'unknown_recipient', created_at: expect.any(String) },
    ]);
    await expect(send()).rejects.toMatchObject({
      code: 'recipient_suppressed',
      fields: { reason: 'unknown_recipient' },
    });
    const { id: other } = await send('bat@example.com');
    expect(await messageOf(other)).toMatchObject({ status: 'sent' });
    expect(relay.taken.map(({ to }) => to)).toEqual(['bold@example.com', 'bat@example.com']);
    expect(await administration().suppressions.remove('bold@Example.com')).toBe(true);
    expect(await messageOf((await send()).id)).toMatchObject({ status: 'sent' });
    expect(await ledgerDifference(services.core)).toBe(0);
  });

  it('are added while the setting is on, and hold whatever it is', async () => {
    await open();
    const { from } = await send();
    await receive(bounceOf(from));
    expect(await suppressed()).toEqual([]);
    await set({ suppressions: true });
    await receive(bounceOf(from));
    expect(await suppressed()).toEqual(['bold@example.com']);
    await set({ suppressions: false });
    await expect(send()).rejects.toMatchObject({ code: 'recipient_suppressed' });
  });

  it.each(['4.4.7', '5.2.2', '5.7.1', '5.1.8', ''])('are not for status %j', async (status) => {
    await open();
    await set({ suppressions: true });
    const { id, from } = await send();
    await receive(bounceOf(from, { status, diagnostic: 'smtp; 550 not delivered' }));
    expect([(await messageOf(id)).delivery, await suppressed()]).toEqual(['bounced', []]);
  });

  it.each<[string, string[]]>([
    ['550 5.1.1 User unknown', ['bold@example.com']],
    ['550-5.1.1 User\r\n550 5.1.1 unknown', ['bold@example.com']],
    ['550 #5.1.1 User unknown', ['bold@example.com']],
    ['550-5.1.1 Not accepted\r\n550 5.1.1 at this rate', []],
    ['550 5.1.1 No such user (5.2.2)', []],
    ['550 5.7.1 Spam', []],
    ['550 User unknown', ['bold@example.com']],
    ['550 Requested action not taken: mailbox unavailable', []],
  ])('are for addresses that the relay refuses with %j', async (reply, expected) => {
    await open();
    await set({ suppressions: true });
    relay.options.react = (step) => (step === 'RCPT' ? reply : null);
    expect(await messageOf((await send()).id)).toMatchObject({ status: 'failed' });
    expect(await suppressed()).toEqual(expected);
  });

  it('keep a number that its operator calls unknown from a batch and from single messages', async () => {
    await open();
    await set({ suppressions: true });
    smsc.options.react = ({ to }) => (to === '99000000' ? statuses.invalidRecipient : 'take');
    await expect(services.send('99000000', 'Hi')).resolves.toMatchObject({ status: 502 });
    expect(await suppressed()).toEqual(['99000000']);
    const heard = smsc.heard.length;
    await expect(services.send('99000000', 'Hi')).rejects.toMatchObject({
      code: 'recipient_suppressed',
      status: 422,
      fields: { reason: 'unknown_recipient' },
    });
    expect(smsc.heard.length).toBe(heard);
    const batch = await services.sendBatch(['99000000', '99112233'], 'Hi');
    await services.completed(batch);
    const { data } = await services.core.operations.listBatchMessages(caller, batch, {
      limit: 9,
      after: null,
    });
    expect(data).toMatchObject([
      { status: 'failed', credits: 0, error: { code: 'recipient_suppressed' } },
      { status: 'sent' },
    ]);
    expect(smsc.taken.map(({ to }) => to)).toEqual(['99112233']);
    expect(await administration().suppressions.remove('+976 9900-0000')).toBe(true);
    expect(await ledgerDifference(services.core)).toBe(0);
  });
});

describe('the inbox', () => {
  const mail =
    'From: Bat <bat@example.com>\r\nTo: no-reply@Shop.mn\r\nSubject: Re: Hi\r\nMessage-ID: <1@x>\r\n\r\nYes';

  it('has the mail to the own domain of its project, once', async () => {
    await open();
    await set({ own_domain: 'shop.mn' });
    expect([await receive(mail), await receive(mail)]).toEqual(['kept', 'kept']);
    expect(await inbox()).toEqual([
      {
        id: expect.any(String),
        channel: 'email',
        from: 'bat@example.com',
        to: 'no-reply@shop.mn',
        subject: 'Re: Hi',
        text: 'Yes',
        received_at: expect.any(String),
        waits_for_parts: false,
      },
    ]);
  });

  it('has it by the envelope, whatever the mail says', async () => {
    await open();
    const other = await administration().createProject('Other');
    const others = await administration().project(other.id);
    await others?.settings.update({ own_domain: { domain: 'other.mn' } });
    await set({ own_domain: 'shop.mn' });
    expect(await receive(mail, 'help@other.mn')).toBe('kept');
    expect([await inbox(), (await others?.inbox())?.data]).toMatchObject([[], [{ to: 'help@other.mn' }]]);
    await expect(receive(mail, 'help@third.mn')).rejects.toMatchObject({ code: 'not_found' });
    await expect(receive('')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it.each<[string, 'kept' | 'bounced', boolean, (to: string) => string]>([
    ['a reply to all', 'kept', true, (to) => mail.replace('no-reply@Shop.mn', `${to}, no-reply@Shop.mn`)],
    [
      'a reply to both, the inbox first',
      'kept',
      true,
      (to) => mail.replace('\r\nSubject', `, ${to}\r\nSubject`),
    ],
    ['a reply, copied', 'kept', true, (to) => mail.replace('\r\nSubject', `\r\nCc: ${to}\r\nSubject`)],
    [
      'a delay',
      'kept',
      true,
      (to) => bounceOf(`${to}, help@shop.mn`, { action: 'delayed', status: '4.4.1' }),
    ],
    ['a failure', 'bounced', false, (to) => bounceOf(`${to}, help@shop.mn`)],
    ['a failure, the inbox first', 'bounced', false, (to) => bounceOf(`help@shop.mn, ${to}`)],
    ['a failure of a message that is gone', 'kept', true, (to) => bounceOf(`${to}, help@shop.mn`)],
  ])('of a bounce address and an inbox at once, %s is %s', async (name, as, isKept, written) => {
    await open();
    const { id, from } = await send();
    if (name.endsWith('gone')) {
      const { store } = services.core;
      await store.beginReset('test', 1_000);
      await store.reset(1_000, 1_000);
      await store.endReset('test');
    }
    await set({ own_domain: 'shop.mn' });
    expect(await receive(written(from))).toBe(as);
    expect(await inbox()).toHaveLength(isKept ? 1 : 0);
    if (as === 'bounced') expect((await messageOf(id)).delivery).toBe('bounced');
  });

  it('has nothing that came to a bounce address of its own domain', async () => {
    email = { ...email, bounce_domain: 'shop.mn' };
    await open();
    await set({ own_domain: 'shop.mn' });
    const { from } = await send();
    expect(await receive(mail.replace('no-reply@Shop.mn', from))).toBe('ignored');
    expect(await inbox()).toEqual([]);
  });

  it('gives pages, and refuses what is no page', async () => {
    await open();
    await set({ own_domain: 'shop.mn' });
    for (const number of [1, 2, 3]) await receive(mail.replace('<1@x>', `<${number}@y>`));
    const first = await administration().inbox({ limit: 2 });
    expect(first.data).toHaveLength(2);
    const second = await administration().inbox({ limit: 2, after: first.next ?? '' });
    expect(second).toMatchObject({ data: [{}], next: null });
    for (const page of [{ limit: 0 }, { limit: 1_001 }, { after: 'nobody' }])
      await expect(administration().inbox(page)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('has SMS for the project of their route, and joins their parts', async () => {
    sms.routes[0] = { ...sms.routes[0], inbox_project: 'Default' };
    await open();
    await until(() => smsc.heard.length > 0);
    const from = { source_addr: '97699112233', destination_addr: '139911' };
    smsc.request('deliver_sm', { ...from, short_message: Buffer.from('STOP') });
    await until(() => smsc.acknowledged.length === 1);
    const part = (number: number, text: string) =>
      smsc.request('deliver_sm', {
        ...from,
        esm_class: 0x40,
        short_message: Buffer.concat([Buffer.from([5, 0, 3, 7, 2, number]), Buffer.from(text)]),
      });
    part(2, 'World');
    await until(() => smsc.acknowledged.length === 2);
    part(1, 'Hello ');
    await until(() => smsc.acknowledged.length === 3);
    expect(await inbox()).toMatchObject([
      { channel: 'sms', from: '99112233', to: '139911', subject: null, text: 'Hello World' },
      { text: 'STOP' },
    ]);
    expect(smsc.acknowledged).toEqual([0, 0, 0]);
  });

  it('has SMS while the service is measured too', async () => {
    const metrics = new Metrics();
    onTestFinished(() => metrics.close());
    await services.open(services.configured(sms, email), metrics.wrappers);
    await until(() => smsc.heard.length > 0);
    smsc.request('deliver_sm', { source_addr: '97699112233', short_message: Buffer.from('STOP') });
    await until(() => smsc.acknowledged.length === 1);
    expect({ inbox: await inbox(), acknowledged: smsc.acknowledged }).toMatchObject({
      inbox: [{ channel: 'sms', from: '99112233', text: 'STOP' }],
      acknowledged: [0],
    });
  });

  it('of a project that is not there stops the start', async () => {
    sms.routes[0] = { ...sms.routes[0], inbox_project: 'Nobody' };
    await expect(open()).rejects.toThrow('sms.routes[0].inbox_project: there is no project "Nobody"');
  });
});

describe('an own domain with a key', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });

  function keyFile(): string {
    const file = join(services.cores.folder(), 'dkim.pem');
    writeFileSync(file, privateKey);
    return file;
  }

  it('signs what arrives, and names the records to publish', async () => {
    await open();
    await set({ own_domain: { domain: 'shop.mn', selector: 'mail', key_file: keyFile() } });
    const { raw, from } = await send();
    const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
    expect(head).toContain('From: Default <no-reply@shop.mn>');
    expect(from).toMatch(/^bounce\+.*@b\.example\.mn$/);
    const records = await administration().dnsRecords();
    expect(records.map(({ purpose, type, name }) => [purpose, type, name])).toEqual([
      ['SPF', 'TXT', 'shop.mn'],
      ['DKIM', 'TXT', 'mail._domainkey.shop.mn'],
      ['DMARC', 'TXT', '_dmarc.shop.mn'],
    ]);
    const published = /^v=DKIM1; k=rsa; p=(\S+)$/.exec(records[1]?.value ?? '')?.[1] ?? '';
    const pem = `-----BEGIN PUBLIC KEY-----\n${published.replace(/.{64}/g, '$&\n')}\n-----END PUBLIC KEY-----\n`;
    expect(pem.replace(/\s/g, '')).toBe(publicKey.replace(/\s/g, ''));
    expect(verifyDkim(raw, pem)).not.toHaveProperty('problem');
  });

  it('sends nothing while the key cannot be read, and everything then', async () => {
    await open();
    const file = join(services.cores.folder(), 'dkim.pem');
    await set({ own_domain: { domain: 'shop.mn', selector: 'mail', key_file: file } });
    await expect(administration().dnsRecords()).rejects.toMatchObject({ code: 'invalid_request' });
    const params = { to: 'bold@example.com', subject: 'Hi', text: 'Hi' };
    const { body } = await services.core.operations.sendEmail({ caller, params, idempotencyKey: null });
    await until(() => services.cores.faults.length > 0);
    expect([relay.taken, (await messageOf((body as { id: string }).id)).status]).toEqual([[], 'queued']);
    writeFileSync(file, privateKey);
    await services.pass(async () => (await messageOf((body as { id: string }).id)).status === 'sent');
    expect(verifyDkim(relay.taken[0]?.raw ?? '', publicKey)).not.toHaveProperty('problem');
  });

  it('in other letters has its records and its mail in ASCII', async () => {
    await open();
    await set({ own_domain: 'жишээ.мон' });
    const names = (await administration().dnsRecords()).map(({ name }) => name);
    expect(names).toEqual(['xn--f1ae2cuaa.xn--l1acc', '_dmarc.xn--f1ae2cuaa.xn--l1acc']);
    expect(await receive('From: bat@example.com\r\nSubject: Hi\r\n\r\nYes', 'a@жишээ.мон')).toBe('kept');
  });

  it('of an older release is its name alone', async () => {
    await open();
    const { store } = services.core;
    await store.changeSettings(caller.projectId, () => '{"own_domain":"shop.mn"}');
    expect((await administration().settings.get()).own_domain).toEqual({ domain: 'shop.mn' });
    expect((await send()).raw).not.toMatch(/dkim-signature/i);
    expect((await administration().dnsRecords()).map(({ purpose }) => purpose)).toEqual(['SPF', 'DMARC']);
    await set({ own_domain: null });
    expect(await administration().dnsRecords()).toEqual([]);
  });
});

it('a batch and a single email of a list name where to unsubscribe, another email does not', async () => {
  await open();
  await set({ list_unsubscribe: 'https://shop.mn/u?to={to}' });
  await send();
  await send('bat@example.com', true);
  const params = { to: ['bold@example.com'], subject: 'Hi', text: 'Hi' };
  const { body } = await services.core.operations.sendEmailBulk({ caller, params, idempotencyKey: null });
  await services.completed((body as { id: string }).id);
  const headers = relay.taken.map(({ raw }) => /^List-Unsubscribe: .*/m.exec(raw)?.[0]?.trim());
  expect(headers).toEqual([
    undefined,
    'List-Unsubscribe: <https://shop.mn/u?to=bat%40example.com>',
    'List-Unsubscribe: <https://shop.mn/u?to=bold%40example.com>',
  ]);
});
