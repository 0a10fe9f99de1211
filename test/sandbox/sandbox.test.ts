import { afterEach, describe, expect, it } from 'vitest';
import { Urtuu } from '../../src/client/index.js';
import {
  type Delivery,
  ManualClock,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from '../../src/sandbox/index.js';
import { testFolder } from '../support/folders.js';

const started: Sandbox[] = [];
async function start(options?: SandboxOptions): Promise<{ sandbox: Sandbox; urtuu: Urtuu }> {
  const sandbox = await startSandbox(options);
  started.push(sandbox);
  const { url, key, fetch } = sandbox;
  const urtuu = new Urtuu(key, { baseUrl: url, ...(options?.port === null ? { fetch } : {}) });
  return { sandbox, urtuu };
}
afterEach(() => Promise.all(started.splice(0).map((sandbox) => sandbox.close())));

it.each([
  [{ direktory: '/tmp' }, 'Unknown option "direktory"; valid options: port, clock, '],
  [null, 'Options must be an object'],
])('refuses the options %o', async (options, message) => {
  await expect(startSandbox(options as SandboxOptions)).rejects.toThrow(message);
});

it('has no clock that shows no time', () => {
  expect(() => new ManualClock('2026-01-01' as never)).toThrow(RangeError);
  const clock = new ManualClock(1_000);
  for (const wrong of [Number.NaN, Infinity, '5']) {
    expect(() => clock.advance(wrong as never)).toThrow(RangeError);
    expect(() => clock.set(wrong as never)).toThrow(RangeError);
  }
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
});

describe.each([{ port: 0 }, { port: null }])('a sandbox with %o', (options) => {
  it('shows what was delivered', async () => {
    const { sandbox, urtuu } = await start(options);
    await urtuu.sms.sendBulk({ to: ['99112233', '88112233'], text: 'Hello' });
    await sandbox.idle();
    await urtuu.sms.send({ to: '99112233', text: 'Again' });
    const all = await sandbox.outbox();
    expect(all.map(({ to, text }) => [to, text]).sort()).toEqual([
      ['88112233', 'Hello'],
      ['99112233', 'Again'],
      ['99112233', 'Hello'],
    ]);
    expect((await sandbox.outbox({ to: '99112233' })).map(({ text }) => text)).toEqual(['Hello', 'Again']);
    for (const to of ['99112233', '+976 9911-2233'])
      expect(await sandbox.outbox({ to, limit: 1 })).toMatchObject([{ text: 'Again' }]);
  });

  it('is reset to the first balance and an empty outbox, with its key', async () => {
    const { sandbox, urtuu } = await start(options);
    const options1 = { idempotencyKey: 'one' };
    const first = await urtuu.sms.send({ to: '99112233', text: 'Hello' }, options1);
    expect(await sandbox.credit(500)).toBe(100_490);
    await sandbox.reset();
    expect(await sandbox.outbox()).toEqual([]);
    expect(await urtuu.balance.get()).toEqual({ balance: 100_000 });
    const second = await urtuu.sms.send({ to: '99112233', text: 'Hello' }, options1);
    expect(second.id).not.toBe(first.id);
  });
});

describe('startSandbox', () => {
  it('keeps the time of a clock that the test moves', async () => {
    const clock = new ManualClock(Date.UTC(2030, 0, 1));
    const { sandbox, urtuu } = await start({ port: null, clock, settings: { caps: { per_10_minutes: 1 } } });
    expect(sandbox.clock).toBe(clock);
    const send = () => urtuu.sms.send({ to: '99112233', text: 'Hello' });
    expect(await send()).toMatchObject({ created_at: '2030-01-01T00:00:00.000Z' });
    await expect(send()).rejects.toMatchObject({ code: 'recipient_rate_limited', retryAfter: 600 });
    clock.advance(600_000);
    expect(await send()).toMatchObject({ created_at: '2030-01-01T00:10:00.000Z' });
  });

  it('repeats ids and codes with a seed', async () => {
    const run = async () => {
      const { sandbox, urtuu } = await start({ seed: 'x', clock: new ManualClock(0) });
      const { id } = await urtuu.verify.create({ to: '99112233' });
      return [id, (await sandbox.outbox())[0]?.text];
    };
    expect(await run()).toEqual(await run());
  });

  it.each([
    ['enforced', { rates: 'enforced', clock: new ManualClock() }, 40],
    ['off', { rates: 'off' }, 45],
    ['of a clock that the test moves', { clock: new ManualClock() }, 45],
  ] as const)(
    'with the rates %s, lets the right number of 45 sends at once pass',
    async (_, rates, passed) => {
      const { sandbox } = await start({ port: null, ...rates });
      const statuses = await Promise.all(
        Array.from({ length: 45 }, async (_, index) => {
          const response = await sandbox.fetch(`${sandbox.url}/sms`, {
            method: 'POST',
            headers: { authorization: `Bearer ${sandbox.key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ to: `${88_000_000 + index}`, text: 'Hello' }),
          });
          return response.status;
        }),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(passed);
    },
  );

  it('shows the code of a verification, and of nothing else', async () => {
    const { sandbox, urtuu } = await start({ seed: 'x', settings: { brand_name: 'Shop 2024' } });
    await urtuu.sms.send({ to: '99112233', text: 'Your order 123456' });
    const code = async (text?: string) => {
      const { id } = await urtuu.verify.create({ to: '99112233', code_length: 4, ...(text ? { text } : {}) });
      const delivery = (await sandbox.outbox()).at(-1) as Delivery;
      expect(await urtuu.verify.check(id, { code: delivery.code as string })).toMatchObject({
        status: 'verified',
      });
      return delivery.text;
    };
    expect(await code()).toMatch(/^Shop 2024: your code is \d{4}$/);
    expect(await code('12345{code}67890 {brand}')).toMatch(/^12345\d{4}67890 Shop 2024$/);
    expect((await sandbox.outbox())[0]).toMatchObject({ text: 'Your order 123456', code: null });
  });

  it('names no project before a code', async () => {
    const { sandbox, urtuu } = await start();
    await urtuu.verify.create({ to: '99112233' });
    await urtuu.verify.create({ to: 'bat@example.mn' });
    await sandbox.idle();
    const [sms, email] = await sandbox.outbox();
    expect(sms?.text).toBe(`Your code is ${sms?.code}`);
    expect(email).toMatchObject({ subject: 'Your code', text: `Your code is ${email?.code}` });
  });

  it('says that it is closed', async () => {
    const { sandbox, urtuu } = await start({ port: null });
    await sandbox.close();
    await expect(sandbox.outbox()).rejects.toThrow('the sandbox is closed');
    await expect(sandbox.credit(1)).rejects.toThrow('the sandbox is closed');
    await expect(urtuu.balance.get({ maxRetries: 0 })).rejects.toMatchObject({
      code: 'connection_error',
      cause: expect.objectContaining({ message: 'the sandbox is closed' }),
    });
  });

  it('keeps its data in a folder', async () => {
    const directory = testFolder();
    const first = await start({ directory });
    const { id } = await first.urtuu.sms.send({ to: '99112233', text: 'Hello' });
    await first.sandbox.close();
    const second = await start({ directory });
    expect(await second.urtuu.messages.get(id)).toMatchObject({ status: 'sent' });
    await second.sandbox.close();
  });

  it('rejects settings that break a rule, and a port that is taken', async () => {
    await expect(startSandbox({ settings: { caps: { per_10_minutes: 21 } } })).rejects.toThrow(
      /caps.per_10_minutes/,
    );
    const { sandbox } = await start();
    const port = Number(new URL(sandbox.url).port);
    await expect(startSandbox({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
