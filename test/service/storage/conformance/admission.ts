import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../src/service/clock.js';
import type { Engine, Handle } from './engine.js';
import { message, project, start } from './fixture.js';

/** The one call before a send, for every engine: key, rate, idempotency key, in this order. */
export function admissionConformance(engine: Engine): void {
  describe(`admission: ${engine.name}`, () => {
    const hash = new Uint8Array(Buffer.from('hash'.padEnd(32)));
    const bucket = { interval: 1_000, burst: 2 };
    let handle: Handle;
    const admit = (given: Partial<Parameters<Handle['admit']>[0]> = {}) =>
      handle.admit({ caller: { hash }, kind: 'sending', bucket, idempotencyKey: 'k', ...given });

    beforeEach(async () => {
      [handle] = (await engine.open([new ManualClock(start)])) as [Handle];
      await handle.store.createProject(project);
      await handle.store.addKey({ id: 'one', projectId: project.id, hash }, 10);
    });
    afterEach(() => handle.close());

    it('tells the caller, the rate and the bound answer', async () => {
      const free = { projectId: project.id, keyId: 'one', taken: { allowed: true, remaining: 1, wait: 0 } };
      expect(await admit()).toEqual({ ...free, answer: undefined });
      const bound = { status: 202, body: '{"a":1}' };
      await handle.store.acceptMessage(message({ idempotencyKey: 'k', answer: () => bound }));
      expect(await admit()).toMatchObject({ answer: bound });
      expect(await admit({ bucket: null, idempotencyKey: null })).toMatchObject({
        taken: null,
        answer: undefined,
      });
    });

    it('of a caller who is known asks for no key, of an unknown or revoked key tells nothing', async () => {
      const caller = { projectId: project.id, keyId: 'local' };
      expect(await admit({ caller })).toMatchObject(caller);
      await handle.store.revokeKey(project.id, 'one');
      expect(await admit()).toBeNull();
      expect(await admit({ caller: { hash: new Uint8Array(32) } })).toBeNull();
      expect(await admit({ caller })).toMatchObject({ taken: { allowed: true, remaining: 0 } });
    });

    it('over the rate looks up no answer', async () => {
      const bound = { status: 202, body: '{"a":1}' };
      await handle.store.acceptMessage(message({ idempotencyKey: 'k', answer: () => bound }));
      await admit();
      await admit();
      expect(await admit()).toMatchObject({ taken: { allowed: false }, answer: undefined });
    });
  });
}
