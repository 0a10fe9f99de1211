import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../src/service/clock.js';
import type { Admission, Admitted } from '../../../../src/service/storage/admission.js';
import type { Engine, Handle } from './engine.js';
import { answerOf, claimOf, message, other, project, sent, start, wholeKey } from './fixture.js';

const withoutProject = (admitted: Admitted | null) => admitted && { ...admitted, project: undefined };

/** The one call before a request, for every engine: key, rate, idempotency key, in this order. */
export function admissionConformance(engine: Engine): void {
  describe.each([
    ['one handle', 1],
    ['two handles', 2],
  ])(`admission: ${engine.name}, %s`, (_, count) => {
    const hash = new Uint8Array(Buffer.from('hash'.padEnd(32)));
    const bucket = { interval: 1_000, burst: 2 };
    const bound = { status: 202, body: '{"a":1}' };
    let clock: ManualClock;
    let handles: Handle[];
    /** Writes, and the other one admits. */
    let one: Handle;
    let two: Handle;
    const admitTo = (handle: Handle, given: Partial<Admission> = {}) =>
      handle.admit({ caller: { hash }, kind: 'sending', bucket, idempotencyKey: 'k', ...given });
    const admit = (given?: Partial<Admission>) => admitTo(two, given);

    beforeEach(async () => {
      clock = new ManualClock(start);
      handles = await engine.open(Array(count).fill(clock));
      [one, two = one] = handles as [Handle, Handle?];
      await one.store.createProject(project);
      await one.store.addKey({ ...wholeKey, id: 'one', projectId: project.id, hash }, 10);
    });
    afterEach(() => Promise.all(handles.map((handle) => handle.close())));

    it('gives caller, rate and bound answer', async () => {
      const taken = { allowed: true, remaining: 1, wait: 0 };
      const free = { projectId: project.id, keyId: 'one', scope: ['send', 'read'], taken };
      expect(withoutProject(await admit())).toEqual({ ...free, answer: undefined });
      await one.store.acceptMessage(message({ idempotencyKey: 'k', answer: () => bound }));
      expect(await admit()).toMatchObject({ answer: bound });
      expect(withoutProject(await admit({ bucket: null, idempotencyKey: null }))).toEqual({
        ...free,
        taken: null,
        answer: undefined,
      });
    });

    it('where it carries the project, that is as it is stored', async () => {
      const before = await admit({ bucket: null });
      expect([undefined, { name: project.name, settings: '{}' }]).toContainEqual(before?.project);
      await one.store.changeSettings(project.id, () => '{"brand_name":"Shop"}');
      const after = await admit({ bucket: null });
      expect(after?.project?.settings).toBe(before?.project && '{"brand_name":"Shop"}');
    });

    it('a key has its scope, until it expires', async () => {
      const readHash = new Uint8Array(32).fill(2);
      const key = { ...wholeKey, id: 'two', projectId: project.id, hash: readHash };
      await one.store.addKey({ ...key, scope: ['read'], expiry: { at: start + 1_000 } }, 10);
      const given = { caller: { hash: readHash }, bucket: null };
      clock.advance(999);
      expect(await admit(given)).toMatchObject({ keyId: 'two', scope: ['read'] });
      clock.advance(1);
      expect(await admit(given)).toBeNull();
    });

    it.each([
      [['inbox'], ['inbox']],
      [
        ['inbox', 'send'],
        ['send', 'inbox'],
      ],
    ] as const)(
      'a key of %o has no other scope; a caller without a stored key has all',
      async (scope, found) => {
        const ownHash = new Uint8Array(32).fill(3);
        await one.store.addKey({ ...wholeKey, id: 'three', projectId: project.id, hash: ownHash, scope }, 10);
        expect((await admit({ caller: { hash: ownHash } }))?.scope).toEqual(found);
        const own = { caller: { projectId: project.id, keyId: 'sandbox' } };
        expect((await admit(own))?.scope).toEqual(['send', 'read', 'inbox']);
      },
    );

    it('an answer is null until the first request has its outcome', async () => {
      const first = message({ idempotencyKey: 'k', claim: claimOf('t') });
      const accepted = await one.store.acceptMessage(first);
      expect(await admit()).toMatchObject({ answer: null });
      const [claimed] = accepted.kind === 'accepted' ? accepted.claimed : [];
      if (claimed === undefined) throw new Error('nothing was claimed');
      await one.store.finalizeMessages([{ claimed, outcome: sent }], answerOf);
      expect(await admit()).toMatchObject({ answer: { status: 200 } });
    });

    it('an answer is of one project', async () => {
      await one.store.createProject(other);
      const otherHash = new Uint8Array(32).fill(1);
      await one.store.addKey({ ...wholeKey, id: 'two', projectId: other.id, hash: otherHash }, 10);
      await one.store.acceptMessage(message({ idempotencyKey: 'k', answer: () => bound }));
      expect(await admit({ caller: { hash: otherHash } })).toMatchObject({
        projectId: other.id,
        keyId: 'two',
        answer: undefined,
      });
    });

    it('an answer bound after it refuses the send as a repeat', async () => {
      expect(await admit()).toMatchObject({ answer: undefined });
      await one.store.acceptMessage(message({ idempotencyKey: 'k', answer: () => bound }));
      expect(await two.store.acceptMessage(message({ idempotencyKey: 'k' }))).toEqual({
        kind: 'repeat',
        answer: bound,
      });
    });

    it('a caller whose key is not stored is admitted without one', async () => {
      const caller = { projectId: project.id, keyId: 'local' };
      expect(await admit({ caller })).toMatchObject({ ...caller, taken: { remaining: 1 } });
    });

    it('an unknown key, and a revoked one from then on, gets nothing and takes no token', async () => {
      expect(await admit()).toMatchObject({ taken: { remaining: 1 } });
      await one.store.revokeKey(project.id, 'one');
      expect(await admit()).toBeNull();
      expect(await admitTo(one)).toBeNull();
      expect(await admit({ caller: { hash: new Uint8Array(32) } })).toBeNull();
      const caller = { projectId: project.id, keyId: 'local' };
      expect(await admit({ caller })).toMatchObject({ taken: { allowed: true, remaining: 0 } });
    });

    it('tokens are of the project, whichever handle takes them', async () => {
      const taken = [await admitTo(one), await admitTo(two), await admitTo(one), await admitTo(two)];
      expect(taken.map((each) => each?.taken?.allowed)).toEqual([true, true, false, false]);
    });

    it('over the rate there is no answer', async () => {
      await one.store.acceptMessage(message({ idempotencyKey: 'k', answer: () => bound }));
      await admitTo(one);
      await admit();
      expect(await admit()).toMatchObject({ taken: { allowed: false }, answer: undefined });
    });
  });
}
