import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { defaultSettings, type SettingsPatch } from '../../../src/service/settings.js';
import {
  Cores,
  caller,
  callerWith,
  ledgerDifference,
  outboxOf,
  replayOf,
  ticks,
} from '../../support/cores.js';

const cores = new Cores();
let core: Core;
beforeEach(async () => {
  core = await cores.open({ clock: new ManualClock(Date.UTC(2026, 5, 1)) });
});
afterEach(() => cores.closeAll());

const send = (to: string, one = core) =>
  one.operations.sendSms({ caller, params: { to, text: 'Hi' }, idempotencyKey: null });

describe('settings', () => {
  it('begin with the defaults and change field by field', async () => {
    const { settings } = core.administration;
    expect(await settings.get()).toEqual(defaultSettings);
    await settings.update({ prices: { sms_part: 12 } });
    await settings.update({ prices: { email: 3 }, brand_name: 'Өртөө' });
    expect(await settings.get()).toEqual({
      ...defaultSettings,
      brand_name: 'Өртөө',
      prices: { sms_part: 12, email: 3 },
    });
  });

  it.each<[string, object]>([
    ['caps.per_10_minutes', { caps: { per_10_minutes: 0 } }],
    ['caps.per_24_hours', { caps: { per_24_hours: 81 } }],
    ['reply_to', { reply_to: 'nobody' }],
    ['brand_name', { brand_name: 'a\nb' }],
    ['own_domain', { own_domain: 'no domain' }],
    ['own_domain', { own_domain: 'Example.mn' }],
    ['own_domain.domain', { own_domain: { domain: 'Example.mn', selector: 'm', key_file: '/k' } }],
    ['own_domain.selector', { own_domain: { domain: 'example.mn', selector: 'a b', key_file: '/k' } }],
    ['own_domain.key_file', { own_domain: { domain: 'example.mn', selector: 'm', key_file: 'k' } }],
    ['own_domain', { own_domain: { domain: 'example.mn', selector: 'm' } }],
    ['own_domain.key', { own_domain: { domain: 'example.mn', key: 'm' } }],
    ['prices.sms_part', { prices: { sms_part: 1.5 } }],
    ['holidays.New Year', { holidays: { 'New Year': 2 } }],
    ['holidays.2026-01-01', { holidays: { '2026-01-01': -1 } }],
    ['operators.X[0]', { operators: { X: ['9'] } }],
    ['operators.no-link', { operators: { 'no-link': ['70'] } }],
    ['operators.email', { operators: { email: ['70'] } }],
    ['unknown', { unknown: 1 }],
  ])('refuse a wrong %s', async (field, patch) => {
    await expect(core.administration.settings.update(patch as SettingsPatch)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`settings.${field}: `),
    });
    await expect(cores.open({ settings: patch as SettingsPatch })).rejects.toThrow(field);
    expect(await core.administration.settings.get()).toEqual(defaultSettings);
  });

  it('of a service object stand over the stored ones, without being stored', async () => {
    const directory = cores.folder();
    const first = await cores.open({ directory, settings: { prices: { sms_part: 99 } } });
    await first.administration.settings.update({ prices: { sms_part: 11, email: 7 } });
    expect((await first.administration.settings.get()).prices).toEqual({ sms_part: 99, email: 7 });
    const second = await cores.open({ directory });
    expect((await second.administration.settings.get()).prices).toEqual({ sms_part: 11, email: 7 });
  });

  it('configure the operators and which of them carry no links', async () => {
    await core.administration.settings.update({ operators: { Ondo: ['66'] }, no_link_operators: ['Ondo'] });
    await expect(send('99112233')).rejects.toMatchObject({ code: 'unsupported_number' });
    await send('66112233');
    expect(await outboxOf(core)).toMatchObject([{ to: '66112233', route: 'no-link' }]);
  });
});

describe('administration', () => {
  it.each([
    ['n'.repeat(100), true],
    ['ө'.repeat(101), false],
    ['', false],
    [' ', false],
    ['a\u2028b', false],
    ['a\u0085b', false],
  ])('a project may be named, and a brand: %j: %s', async (name, taken) => {
    const refusal = { code: 'invalid_request' };
    const made = core.administration.createProject(name);
    const set = core.administration.settings.update({ brand_name: name });
    if (taken) expect([(await made).name, (await set).brand_name]).toEqual([name, name]);
    else
      await Promise.all([
        expect(made).rejects.toMatchObject(refusal),
        expect(set).rejects.toMatchObject(refusal),
      ]);
  });

  it('credit adds and takes away, never below 0', async () => {
    expect(await core.administration.credit(5)).toBe(100_005);
    expect(await core.administration.credit(-200_000)).toBe(0);
    for (const amount of [1.5, Number.NaN, 1e12 + 1, -1e12 - 1, Number.MAX_SAFE_INTEGER])
      await expect(core.administration.credit(amount)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await ledgerDifference(core)).toBe(0);
    expect(await core.administration.ledger()).toMatchObject([
      { reason: 'opening', amount: 100_000 },
      { reason: 'credit', amount: 5 },
      { reason: 'credit', amount: -100_005 },
    ]);
  });

  it('the outbox gives deliveries in order, of one recipient, the newest where it is limited', async () => {
    const to = Array.from({ length: 1_000 }, (_, index) => `${88_000_000 + index}`);
    await core.operations.sendSmsBulk({ caller, params: { to, text: 'Hi' }, idempotencyKey: null });
    await core.administration.idle();
    await send('88000500');
    const read = async (filter: { to?: string; limit?: number }) => {
      const found: string[] = [];
      for await (const delivery of core.administration.outbox(filter)) found.push(delivery.to);
      return found;
    };
    expect(await read({})).toEqual([...to, '88000500']);
    expect(await read({ to: '88000500' })).toEqual(['88000500', '88000500']);
    expect(await read({ limit: 700 })).toEqual([...to.slice(301), '88000500']);
    expect(await read({ limit: 0 })).toEqual([]);
  });

  it('reset empties everything but projects, settings and keys, even with messages on their way', async () => {
    const { id } = await core.administration.createProject('Other');
    const { secret } = await core.administration.createKey();
    await core.administration.settings.update({ brand_name: 'Өртөө' });
    await core.operations.sendSms({ caller, params: { to: '99112233', text: 'Hi' }, idempotencyKey: 'k' });
    const slow = { to: ['99000005'], text: 'Hi' };
    await core.operations.sendSmsBulk({ caller, params: slow, idempotencyKey: null });
    await ticks();
    await core.administration.reset();
    expect(await outboxOf(core)).toEqual([]);
    expect(await core.operations.getBalance(caller)).toEqual({ balance: 100_000 });
    expect(await ledgerDifference(core)).toBe(0);
    expect(await replayOf(core, 'k')).toBeNull();
    expect(await callerWith(core, secret)).not.toBeNull();
    expect((await core.administration.listProjects()).map((project) => project.id)).toEqual([
      caller.projectId,
      id,
    ]);
    expect((await core.administration.settings.get()).brand_name).toBe('Өртөө');
    expect(await send('99112233')).toMatchObject({ status: 200 });
  });

  it('keeps projects apart: money, settings, caps', async () => {
    const { id } = await core.administration.createProject('Other');
    const other = await core.administration.project(id);
    await other?.settings.update({ prices: { sms_part: 20 } });
    for (let sent = 0; sent < 5; sent += 1) await send('99112233');
    const stranger = { projectId: id, keyId: 'x' };
    const answer = await core.operations.sendSms({
      caller: stranger,
      params: { to: '99112233', text: 'Hi' },
      idempotencyKey: null,
    });
    expect(answer.body).toMatchObject({ credits: 20, balance: 99_980 });
    expect(await core.operations.getBalance(caller)).toEqual({ balance: 99_950 });
  });
});

describe('a seed', () => {
  const run = async () => {
    const seeded = await cores.open({ seed: 'a', clock: new ManualClock(Date.UTC(2026, 5, 1)) });
    const verification = await seeded.operations.createVerification(caller, { to: '99112233' });
    const { secret } = await seeded.administration.createKey();
    return { verification, secret, outbox: await outboxOf(seeded) };
  };

  it('repeats ids, keys and codes', async () => expect(await run()).toEqual(await run()));

  it('does not repeat ids over data that is there', async () => {
    const options = { directory: cores.folder(), seed: 'a', clock: new ManualClock(Date.UTC(2026, 5, 1)) };
    const first = await cores.open(options);
    await send('99112233', first);
    await first.close();
    expect(await send('99112233', await cores.open(options))).toMatchObject({ status: 200 });
  });
});

describe('the data folder', () => {
  it('and its secret are readable by their owner only, and a damaged secret is refused', async () => {
    const directory = join(cores.folder(), 'deep', 'data');
    await (await cores.open({ directory })).close();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const secret = join(directory, 'secret');
    expect(statSync(secret).mode & 0o777).toBe(0o600);
    truncateSync(secret, 5);
    await expect(cores.open({ directory })).rejects.toThrow(/secret is damaged/);
  });

  it.runIf(process.platform === 'linux')('is given up where no folder can be made', async () => {
    await expect(cores.open({ directory: '/proc/none/one/two' })).rejects.toThrow('ENOENT');
  });

  it('several that start at once share one secret', async () => {
    const directory = join(cores.folder(), 'made by each');
    const services = await Promise.all(Array.from({ length: 5 }, () => cores.open({ directory })));
    const first = services[0] as Core;
    const last = services[4] as Core;
    const { id } = await first.operations.createVerification(caller, { to: '99112233' });
    const code = /[0-9]{6}/.exec((await outboxOf(first))[0]?.text ?? '')?.[0] ?? '';
    expect(await last.operations.checkVerification(caller, id, { code })).toMatchObject({
      status: 'verified',
    });
  });
});
