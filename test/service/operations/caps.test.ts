import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { bodyOf, Cores, caller, requestsTo } from '../../support/cores.js';

const cores = new Cores();
const start = Date.UTC(2026, 5, 1, 4);
let clock: ManualClock;
let core: Core;

beforeEach(async () => {
  clock = new ManualClock(start);
  core = await cores.open({ clock });
});
afterEach(() => cores.closeAll());

const { send, sendBulk, balance } = requestsTo(() => core);

describe('Limits, per-recipient caps', () => {
  const times = async (count: number, to = '99112233') => {
    for (let sent = 0; sent < count; sent += 1) await send(to, 'Hi');
  };

  it('5 in 10 minutes; Retry-After is when the oldest leaves the window; nothing is charged', async () => {
    await times(1);
    clock.advance(60_500);
    await times(4);
    const before = await balance();
    await expect(send('+976 99112233', 'Hi', 'k')).rejects.toMatchObject({
      code: 'recipient_rate_limited',
      status: 429,
      retryAfter: 540,
    });
    expect(await balance()).toBe(before);
    await times(1, '99112234');
    clock.advance(539_499);
    await expect(send('99112233', 'Hi', 'k')).rejects.toMatchObject({ retryAfter: 1 });
    clock.advance(1);
    expect(await send('99112233', 'Hi', 'k')).toMatchObject({ status: 200 });
  });

  it('20 in 24 hours', async () => {
    for (let block = 0; block < 4; block += 1) {
      await times(5);
      clock.advance(600_000);
    }
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ retryAfter: 86_400 - 2_400 });
    clock.advance(86_400_000 - 2_400_000);
    await times(1);
  });

  it('what failed does not count', async () => {
    for (let sent = 0; sent < 8; sent += 1)
      expect(await send('99000001', 'Hi')).toMatchObject({ status: 502 });
  });

  it('in a batch the capped message fails and is refunded, the rest is sent', async () => {
    await times(5);
    const { id } = await bodyOf<{ id: string }>(sendBulk(['99112233', '88112233'], 'Hi'));
    await core.administration.settled();
    const { data } = await core.operations.listBatchMessages(caller, id, { limit: 10, after: null });
    expect(data).toMatchObject([
      { status: 'failed', credits: 0, error: { code: 'recipient_rate_limited' } },
      { status: 'sent', credits: 10, error: null },
    ]);
    expect(await core.operations.getBatch(caller, id)).toMatchObject({
      status: 'completed',
      sent: 1,
      failed: 1,
    });
    expect(await balance()).toBe(100_000 - 60);
  });

  it('of batches that wait together the first ones in get through', async () => {
    const ids: string[] = [];
    for (let batch = 0; batch < 7; batch += 1) {
      ids.push((await bodyOf<{ id: string }>(sendBulk(['99112233'], 'Hi'))).id);
    }
    await core.administration.settled();
    const batches = await Promise.all(ids.map((id) => core.operations.getBatch(caller, id)));
    expect(batches.map(({ sent }) => sent)).toEqual([1, 1, 1, 1, 1, 0, 0]);
  });

  it('follow the settings, up to 20 and 80', async () => {
    await core.administration.settings.update({ caps: { per_10_minutes: 20, per_24_hours: 80 } });
    await times(20);
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ code: 'recipient_rate_limited' });
    const over = { caps: { per_10_minutes: 21 } };
    await expect(core.administration.settings.update(over)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const over24 = { caps: { per_24_hours: 81 } };
    await expect(core.administration.settings.update(over24)).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('the holiday multiplier', () => {
  it.each([
    ['the last moment before the day in Ulaanbaatar', '2026-07-10T15:59:59.999Z', 1, 10],
    ['its first', '2026-07-10T16:00:00.000Z', 1.5, 15],
    ['its last', '2026-07-11T15:59:59.999Z', 1.5, 15],
    ['the day after', '2026-07-11T16:00:00.000Z', 1, 10],
  ])('%s', async (_, at, rate_multiplier, credits) => {
    await core.administration.settings.update({ holidays: { '2026-07-11': 1.5 } });
    clock.advance(Date.parse(at) - clock.now());
    expect(await bodyOf(send('99112233', 'Hi'))).toMatchObject({ rate_multiplier, credits });
    expect((await core.operations.getPricing(caller)).sms).toMatchObject({ rate_multiplier });
  });

  it('rounds the credits of a message up', async () => {
    await core.administration.settings.update({ holidays: { '2026-06-01': 1.25 } });
    expect(await bodyOf(send('99112233', 'Hi'))).toMatchObject({ credits: 13 });
    expect(await bodyOf(sendBulk(['88112233', '88112234'], 'Hi'))).toMatchObject({ credits: 26 });
  });
});
