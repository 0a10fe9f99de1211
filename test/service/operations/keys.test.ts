import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Core } from '../../../src/service/core.js';
import { isSecret, newSecret } from '../../../src/service/operations/keys.js';
import { systemRandom } from '../../../src/service/random.js';
import { Cores, caller, callerWith } from '../../support/cores.js';

const cores = new Cores();
let core: Core;
beforeEach(async () => {
  core = await cores.open({ directory: cores.folder() });
});
afterEach(() => cores.closeAll());

describe('API keys', () => {
  it('have the prefix, 40 characters in base 62, and their checksum in the last 6', () => {
    expect(isSecret(`urtuu_${'0'.repeat(34)}3BhmDS`)).toBe(true);
    for (let round = 0; round < 50; round += 1) {
      const secret = newSecret(systemRandom);
      expect(secret).toMatch(/^urtuu_[0-9A-Za-z]{40}$/);
      expect(isSecret(secret)).toBe(true);
      const place = 6 + (round % 40);
      const typo = `${secret.slice(0, place)}${secret[place] === 'x' ? 'y' : 'x'}${secret.slice(place + 1)}`;
      expect(isSecret(typo)).toBe(false);
    }
  });

  it('let in until they are revoked, from the next request on', async () => {
    const { id, secret } = await core.administration.createKey();
    expect(await callerWith(core, secret)).toEqual({ projectId: caller.projectId, keyId: id });
    expect(await core.administration.revokeKey(id)).toBe(true);
    expect(await callerWith(core, secret)).toBeNull();
    expect(await core.administration.revokeKey(id)).toBe(false);
    expect(await core.administration.listKeys()).toMatchObject([{ id, revoked_at: expect.any(String) }]);
  });

  it.each(['', 'urtuu_', 'x', newSecret(systemRandom), `${newSecret(systemRandom)} `])(
    'of no one do not: %j',
    async (secret) => expect(await callerWith(core, secret)).toBeNull(),
  );

  it('show their secret nowhere but at their creation', async () => {
    const { secret } = await core.administration.createKey();
    expect(JSON.stringify(await core.administration.listKeys())).not.toContain(secret.slice(6));
  });

  it('lead to their own project', async () => {
    const { id } = await core.administration.createProject('Other');
    const other = await core.administration.project(id);
    const { secret } = (await other?.createKey()) ?? { secret: '' };
    const stranger = await callerWith(core, secret);
    expect(stranger?.projectId).toBe(id);
    const params = { to: '99112233', text: 'Hi' };
    const { body } = await core.operations.sendSms({ caller, params, idempotencyKey: null });
    const read = core.operations.getMessage(stranger ?? caller, (body as { id: string }).id);
    await expect(read).rejects.toMatchObject({ code: 'not_found', status: 404 });
    const verification = await core.operations.createVerification(caller, { to: '99112244' });
    const { id: pending, attempts_remaining } = verification;
    const tries = [
      () => core.operations.getVerification(stranger ?? caller, pending),
      () => core.operations.checkVerification(stranger ?? caller, pending, { code: '000000' }),
    ];
    for (const each of tries) await expect(each()).rejects.toMatchObject({ code: 'not_found', status: 404 });
    expect(await core.operations.getVerification(caller, pending)).toMatchObject({ attempts_remaining });
    expect(await core.administration.project('nobody')).toBeNull();
  });

  it('of one object only: localKey lives in memory', async () => {
    expect(await callerWith(core, core.localKey)).toEqual({
      projectId: caller.projectId,
      keyId: 'local',
    });
    const another = await cores.open();
    expect(await callerWith(another, core.localKey)).toBeNull();
    expect(await core.administration.listKeys()).toEqual([]);
  });

  it('revoked by another process are refused at once', async () => {
    const directory = cores.folder();
    const first = await cores.open({ directory });
    const second = await cores.open({ directory });
    const { id, secret } = await first.administration.createKey();
    expect(await callerWith(second, secret)).not.toBeNull();
    await first.administration.revokeKey(id);
    expect(await callerWith(second, secret)).toBeNull();
  });
});
