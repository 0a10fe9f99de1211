import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isApiKey } from '../../../src/contract/index.js';
import type { Core } from '../../../src/service/core.js';
import { newSecret } from '../../../src/service/operations/keys.js';
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
    expect(isApiKey(`urtuu_${'0'.repeat(34)}3BhmDS`)).toBe(true);
    for (let round = 0; round < 50; round += 1) {
      const secret = newSecret(systemRandom);
      expect(secret).toMatch(/^urtuu_[0-9A-Za-z]{40}$/);
      expect(isApiKey(secret)).toBe(true);
      const place = 6 + (round % 40);
      const typo = `${secret.slice(0, place)}${secret[place] === 'x' ? 'y' : 'x'}${secret.slice(place + 1)}`;
      expect(isApiKey(typo)).toBe(false);
    }
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
