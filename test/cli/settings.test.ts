import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createService } from '../../src/service/index.js';
import { emptyFolder } from '../support/folders.js';
import { run } from '../support/run.js';

const home = emptyFolder();

const here = (words: string | string[], extra = {}) =>
  run(typeof words === 'string' ? words : '', {
    home,
    env: {},
    ...(typeof words === 'string' ? {} : { argv: words }),
    ...extra,
  });
const set = (...words: string[]) => here(['sandbox', 'settings', 'set', ...words]);
const get = async (name: string) => (await here(['sandbox', 'settings', 'get', name])).stdout;

describe('urtuu sandbox settings', () => {
  it('shows every setting under the name that set takes, also without a value', async () => {
    const { code, stdout } = await here('sandbox settings get');
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/)[0])).toEqual([
      ...[
        'NAME',
        'brand_name',
        'reply_to',
        'own_domain',
        'list_unsubscribe',
        'suppressions',
        'stop_words',
        'start_words',
      ],
      ...['quiet_hours', 'quiet_zone', 'retention_days', 'operators', 'no_link_operators', 'holidays'],
      ...['caps.per_10_minutes', 'caps.per_24_hours', 'verifications.per_24_hours'],
      ...['verifications.per_100_numbers', 'prices.sms_part', 'prices.email', ''],
    ]);
    expect(stdout).toMatch(/^caps\.per_10_minutes +5$/m);
  });

  it('has the settings of the service in JSON, and one of them by its path', async () => {
    const all = JSON.parse((await here('sandbox settings get --json')).stdout);
    expect(all).toMatchObject({ brand_name: null, caps: { per_10_minutes: 5, per_24_hours: 20 } });
    expect(JSON.parse((await here('sandbox settings get caps.per_24_hours --json')).stdout)).toEqual({
      caps: { per_24_hours: 20 },
    });
    expect((await here('sandbox settings get --value caps.per_24_hours')).stdout).toBe('20\n');
    expect(await here('sandbox settings get --columns prices.email -o csv')).toMatchObject({
      stdout: 'prices.email\r\n2\r\n',
    });
  });

  it.each([
    [['caps.per_10_minutes', '20'], '20'],
    [['prices.email', '0'], '0'],
    [['verifications.per_100_numbers', '3'], '3'],
    [['verifications.per_100_numbers', ''], ''],
    [['brand_name', 'Миний дэлгүүр'], 'Миний дэлгүүр'],
    [['brand_name', '12'], '12'],
    [['reply_to', 'desk@example.mn'], 'desk@example.mn'],
    [['own_domain', 'shop.mn'], 'shop.mn'],
    [['own_domain', 'shop.mn', 'mail', '/etc/dkim.pem'], 'shop.mn mail /etc/dkim.pem'],
    [['own_domain', ''], ''],
    [['list_unsubscribe', 'https://shop.mn/u?to={to}'], 'https://shop.mn/u?to={to}'],
    [['list_unsubscribe', 'mailto:stop@shop.mn'], 'mailto:stop@shop.mn'],
    [['suppressions', 'true'], 'true'],
    [['suppressions', ''], 'false'],
    [['stop_words', 'STOP', 'ЗОГСОО'], 'STOP ЗОГСОО'],
    [['stop_words', ''], ''],
    [['start_words', 'START', 'ЭХЭЛ'], 'START ЭХЭЛ'],
    [['quiet_hours', '21:00-08:00'], '21:00-08:00'],
    [['quiet_hours', ''], ''],
    [['quiet_zone', 'Europe/Berlin'], 'Europe/Berlin'],
    [['retention_days', '180'], '180'],
    [['retention_days', ''], ''],
    [['holidays.2026-12-29', '1.5'], '1.5'],
    [['operators.Ondo', '60', '66'], '60 66'],
    [['operators.Unitel', '80', '86'], '80 86'],
    [['no_link_operators', 'Skytel', 'Ondo'], 'Skytel Ondo'],
    [['no_link_operators', ''], ''],
  ])('sets %j, for the commands after it', async (words, value) => {
    const [name = ''] = words;
    expect(await set(...words)).toMatchObject({ code: 0, stdout: expect.stringContaining(name) });
    expect(await get(name)).toBe(`${value}\n`);
  });

  it.each(['brand_name', 'holidays.2026-12-29', 'operators.Skytel'])('removes %s', async (name) => {
    const before = await get('operators');
    await set(name, name.startsWith('h') ? '2' : '99');
    expect(await set(name, '')).toMatchObject({ code: 0 });
    expect(await get(name)).toBe('\n');
    expect(before).toContain('Skytel 90');
    expect(await get('operators')).toContain('Unitel 80 86 88 89');
  });

  it('leaves the other holidays and operators, and their order', async () => {
    await set('holidays.2026-12-29', '1.5');
    await set('holidays.2026-12-30', '2');
    expect(await get('holidays')).toBe('2026-12-29 1.5, 2026-12-30 2\n');
    await set('operators.Mobicom', '94');
    expect(await get('operators')).toMatch(/^Mobicom 94, Unitel 80 86 88 89, Skytel /);
  });

  it.each([
    ['caps.per_10_minutes', '21', 'settings.caps.per_10_minutes: must be a whole number from 1 to 20'],
    ['caps.per_24_hours', '0', 'settings.caps.per_24_hours: must be a whole number from 1 to 80'],
    ['caps.per_24_hours', 'ten', 'settings.caps.per_24_hours: must be a whole number from 1 to 80'],
    ['caps.per_24_hours', '', 'settings.caps.per_24_hours: must be a whole number from 1 to 80'],
    ['prices.sms_part', '1.5', 'settings.prices.sms_part: must be a whole number from 0 to 1000000'],
    ['reply_to', 'nobody', 'reply_to: "nobody" is not an email address'],
    ['own_domain', 'shop', 'settings.own_domain: must be a domain in lower case'],
    [
      'list_unsubscribe',
      'http://shop.mn',
      'settings.list_unsubscribe: must be hosted, or an https: or mailto: address',
    ],
    [
      'list_unsubscribe',
      'https://shop.mn/>',
      'settings.list_unsubscribe: must be hosted, or an https: or mailto: address',
    ],
    [
      'list_unsubscribe',
      'mailto:shop',
      'settings.list_unsubscribe: must be hosted, or an https: or mailto: address',
    ],
    ['quiet_hours', '21:00', 'settings.quiet_hours: must be two different times of the day, as 21:00-08:00'],
    [
      'quiet_hours',
      '21:00-21:00',
      'settings.quiet_hours: must be two different times of the day, as 21:00-08:00',
    ],
    [
      'quiet_hours',
      '21:00-24:00',
      'settings.quiet_hours: must be two different times of the day, as 21:00-08:00',
    ],
    ['quiet_zone', 'Ulaanbaatar', 'settings.quiet_zone: must be a time zone, as Asia/Ulaanbaatar'],
    ['quiet_zone', '', 'settings.quiet_zone: must be a time zone'],
    ['retention_days', '1', 'settings.retention_days: must be a whole number from 2 to 36500'],
    ['retention_days', '180d', 'settings.retention_days: must be a whole number from 2 to 36500'],
    ['suppressions', 'on', 'settings.suppressions: must be true or false'],
    ['holidays.tomorrow', '2', 'settings.holidays.tomorrow: must be a date, as 2026-12-29'],
    ['holidays.2026-12-29', '101', 'settings.holidays.2026-12-29: must be a number over 0, at most 100'],
    ['operators.Ondo', '6', 'settings.operators.Ondo[0]: must be two digits'],
  ])('refuses %s %j with 8, and changes nothing', async (name, value, message) => {
    expect(await set(name, value)).toMatchObject({ code: 8, stderr: expect.stringContaining(message) });
    expect((await here('sandbox settings get --json')).stdout).toBe(
      (await run('sandbox settings get --json', { home: join(home, 'other'), env: {} })).stdout,
    );
  });

  it.each([
    [['get', 'brandname'], 'Did you mean brand_name?'],
    [['set', 'caps.per_24_hour', '3'], 'Did you mean caps.per_24_hours?'],
    [['set', 'holidays.__proto__', '3'], "'holidays.__proto__' is not one of"],
    [['set', 'caps', '3'], 'is not one of brand_name, '],
    [['set', 'holidays', '2'], 'Example: holidays.2026-12-29 1.5'],
    [['set', 'operators', '80'], 'Example: operators.Unitel 80 86'],
    [['set', 'brand_name', 'Two', 'words'], 'Quote a text that has spaces.'],
    [['set', 'quiet_hours', '21:00', '08:00'], 'quiet_hours has one value'],
    [['set', 'own_domain', 'shop.mn', 'mail'], 'Example: own_domain shop.mn mail /etc/urtuu/shop.pem'],
    [['set', 'brand_name'], 'missing: <value>'],
  ])('ends with 2 for %j', async (words, hint) => {
    const { code, stderr } = await here(['sandbox', 'settings', ...words]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(hint) });
  });

  it('changes a running service from its next request on', async () => {
    const directory = join(home, 'data');
    const service = await createService({ directory });
    try {
      expect(
        await here(['sandbox', 'settings', 'set', 'prices.sms_part', '12', '--data', directory]),
      ).toMatchObject({ code: 0 });
      const answer = await service.exchange({
        method: 'GET',
        url: 'http://embedded.invalid/v1/pricing',
        headers: { authorization: `Bearer ${service.localKey}` },
      });
      expect(JSON.parse(answer.body).sms.credits_per_part).toBe(12);
    } finally {
      await service.close();
    }
  });

  it('loses no change when two come at once', async () => {
    await here('sandbox settings get');
    const days = ['2026-12-29', '2026-12-30', '2026-12-31', '2027-01-01'];
    const ended = await Promise.all(days.map((day) => set(`holidays.${day}`, '2')));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const { holidays } = JSON.parse((await here('sandbox settings get --json')).stdout);
    expect(Object.keys(holidays).sort()).toEqual(days);
  });

  it('is the way out where a cap of the sandbox is reached', async () => {
    const send = () => here('sms send 99112233 hi --sandbox');
    for (let sent = 0; sent < 5; sent += 1) expect(await send()).toMatchObject({ code: 0 });
    const { code, stderr } = await send();
    expect(code).toBe(5);
    const [, command = ''] = /raise the cap: urtuu (.*)$/m.exec(stderr) ?? [];
    expect(await here(command)).toMatchObject({ code: 0 });
    expect(await send()).toMatchObject({ code: 0 });
  });
});
