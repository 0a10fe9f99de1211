import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutcomeUnknown } from '../../../src/service/carriers/carrier.js';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { Cores, caller, ledgerDifference, outboxOf, pass, requestsTo, ticks } from '../../support/cores.js';
import { Crash } from '../../support/crash.js';

const cores = new Cores();
let clock: ManualClock;
let core: Core;

beforeEach(async () => {
  clock = new ManualClock(Date.UTC(2026, 5, 1, 4));
  core = await cores.open({ clock });
});
afterEach(() => cores.closeAll());

type Create = Parameters<Core['operations']['createVerification']>[1];
const create = (params: Create) => core.operations.createVerification(caller, params);
const check = (id: string, code: string) => core.operations.checkVerification(caller, id, { code });
const { balance } = requestsTo(() => core);

async function lastCode(length = 6): Promise<string> {
  await core.administration.idle();
  const text = (await outboxOf(core)).at(-1)?.text ?? '';
  return new RegExp(`(?<![0-9])[0-9]{${length}}(?![0-9])`).exec(text)?.[0] ?? '';
}

describe('POST /v1/verify', () => {
  it('sends an email in the name of a project that is older than the limit of names', async () => {
    const id = '00000000-0000-7000-8000-00000000abcd';
    await core.store.createProject({ id, name: 'ө'.repeat(411), balance: 100 });
    await core.operations.createVerification({ projectId: id, keyId: 'x' }, { to: 'bat@example.mn' });
    await core.administration.idle();
    const [email] = await outboxOf(core);
    expect(email).toMatchObject({
      subject: 'Your code',
      from: expect.stringMatching(/^ө{100} </),
    });
  });

  it('needs funds', async () => {
    await core.administration.credit(-99_999);
    await expect(create({ to: '99112233' })).rejects.toMatchObject({
      code: 'insufficient_credits',
      fields: { balance: 1, required: 10 },
    });
  });

  it('is 502 and refunded when the operator does not accept its message', async () => {
    await expect(create({ to: '99000001' })).rejects.toMatchObject({
      code: 'provider_failed',
      status: 502,
      fields: { id: expect.any(String) },
    });
    expect(await balance()).toBe(100_000);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('is created when nobody can tell in time whether its code arrived, which can be checked', async () => {
    const created = create({ to: '99000007' });
    await pass(clock, 21_000);
    const { id } = await created;
    expect(await created).toMatchObject({ status: 'pending', to: '99000007', credits: 10, balance: 99_990 });
    const code = /[0-9]{6}/.exec((await outboxOf(core))[0]?.text ?? '')?.[0] ?? '';
    expect(await check(id, code)).toMatchObject({ status: 'verified' });
  });

  it('that was created in doubt fails and is refunded when its message was not taken', async () => {
    let known = false;
    const mute = await cores.openWithCarrier({ clock }, () => ({
      submit: async () => {
        if (known) return { kind: 'refused', reason: 'no', tryNextRoute: true };
        throw new OutcomeUnknown('reset');
      },
      inquire: async () => (known ? 'not_taken' : 'unknown'),
    }));
    const created = mute.operations.createVerification(caller, { to: '99112233' });
    await pass(clock, 21_000);
    const { id } = await created;
    known = true;
    await pass(clock, 60_000);
    expect(await mute.operations.getVerification(caller, id)).toMatchObject({ status: 'failed', credits: 0 });
    expect(await mute.operations.getBalance(caller)).toEqual({ balance: 100_000 });
  });

  it('is created when the service closes before its outcome is known', async () => {
    const created = create({ to: '99000007' });
    await ticks();
    await core.close();
    expect(await created).toMatchObject({ status: 'pending', id: expect.any(String) });
  });

  it('fails when its email fails, and is refunded', async () => {
    const { id } = await create({ to: 'fault-refused@example.mn' });
    await core.administration.idle();
    expect(await core.operations.getVerification(caller, id)).toMatchObject({ status: 'failed', credits: 0 });
    await expect(check(id, '123456')).rejects.toMatchObject({ code: 'verification_closed' });
  });
});

describe('POST /v1/verify/{id}/check', () => {
  it('counts a code of another form as a wrong one', async () => {
    const { id } = await create({ to: '99112233' });
    for (const code of ['abc', ' ', `${await lastCode()} `]) {
      await expect(check(id, code)).rejects.toMatchObject({ code: 'invalid_code' });
    }
    await expect(check(id, '')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('does not take the code of another verification', async () => {
    const first = await create({ to: '99112233' });
    const code = await lastCode();
    const second = await create({ to: '88112233' });
    if ((await lastCode()) !== code)
      await expect(check(second.id, code)).rejects.toMatchObject({ code: 'invalid_code' });
    expect(await check(first.id, code)).toMatchObject({ status: 'verified' });
  });
});

describe('codes', () => {
  it('stand nowhere in the store, not even while their message waits', async () => {
    const directory = cores.folder();
    const crash = new Crash({ when: 'before', method: 'submit', call: 1 });
    const dying = await cores.openMortal({ directory, clock }, { ...crash.doubles, leaseMs: 5_000 });
    void dying.operations.createVerification(caller, { to: '99112233', text: 'code={code}.' });
    await crash.happened;
    const stored = await cores.storedIn(directory);
    expect(stored).toContain('99112233');
    expect(stored).not.toMatch(/code=[0-9]{6}\./);

    const next = await cores.open({ directory, clock });
    await pass(clock, 6_000);
    expect(await outboxOf(next)).toMatchObject([{ text: expect.stringMatching(/^code=[0-9]{6}\.$/) }]);
  });

  it('are spread over all values', async () => {
    await core.administration.credit(100_000);
    const seen = new Set<string>();
    for (let index = 0; index < 40; index += 1) {
      await create({ to: `${88_000_000 + index}` });
      seen.add(await lastCode());
    }
    expect(seen.size).toBeGreaterThan(38);
  });
});
