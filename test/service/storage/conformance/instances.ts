import { describe, expect, it } from 'vitest';
import { type Heartbeat, staleAfter } from '../../../../src/service/storage/instances.js';
import type { Fixture } from './fixture.js';

export function instanceConformance(fixture: () => Fixture): void {
  const heartbeat = (id: string, rest: Partial<Heartbeat> = {}): Heartbeat => ({
    id,
    version: '1.0.0',
    address: null,
    carriers: [],
    lastMinute: [],
    ...rest,
  });
  const beat = (one: Heartbeat) => fixture().instances.beat(one);
  const ids = async () => (await fixture().instances.list()).map(({ id }) => id);

  describe('heartbeats', () => {
    it('are kept as they were given, and age', async () => {
      const given = heartbeat('one', {
        address: 'http://127.0.0.1:7788',
        carriers: [{ lane: 'Mobicom', state: 'down', forMs: 2_000 }],
        lastMinute: [{ lane: 'Mobicom', sent: 3, unknown: 1, failed: 1, failures: { provider_failed: 1 } }],
      });
      await beat(given);
      fixture().clock.advance(4_000);
      expect(await fixture().instances.list()).toEqual([
        { ...given, carriers: [{ lane: 'Mobicom', state: 'down', forMs: 6_000 }], seenMs: 4_000 },
      ]);
    });

    it('keep what ended in processes without one, until it is taken, once', async () => {
      const { instances, clock } = fixture();
      const one = { channel: 'sms', status: 'sent', isUnknown: true, code: null, count: 2 } as const;
      const two = { ...one, status: 'failed', isUnknown: false, code: 'provider_failed' } as const;
      await instances.leaveEnded([{ lane: 'Mobicom', ...one }]);
      clock.advance(4_000);
      await instances.leaveEnded([
        { lane: 'Mobicom', ...two },
        { lane: 'email', ...two },
      ]);
      const left = [
        { lane: 'Mobicom', ...one, forMs: 4_000 },
        { lane: 'Mobicom', ...two, forMs: 0 },
        { lane: 'email', ...two, forMs: 0 },
      ];
      expect(await instances.listEnded()).toEqual(left);
      const taken = await Promise.all([instances.takeEnded(), instances.takeEnded()]);
      expect(taken.flat()).toEqual(left);
      expect([await instances.listEnded(), await instances.takeEnded()]).toEqual([[], []]);
    });

    it('of the release before count nothing as unknown', async () => {
      const before = { lane: 'Mobicom', sent: 3, failed: 0, failures: {} };
      await beat(heartbeat('one', { lastMinute: [before as never] }));
      expect(await fixture().instances.list()).toMatchObject([{ lastMinute: [{ ...before, unknown: 0 }] }]);
    });

    it('replace the one before, and are stale in the end', async () => {
      await beat(heartbeat('two'));
      await beat(heartbeat('one'));
      fixture().clock.advance(staleAfter);
      await beat(heartbeat('one', { version: '1.0.1' }));
      expect(await ids()).toEqual(['one', 'two']);
      fixture().clock.advance(1);
      expect(await fixture().instances.list()).toMatchObject([{ id: 'one', version: '1.0.1', seenMs: 1 }]);
      await fixture().instances.leave('one');
      expect(await ids()).toEqual([]);
    });

    it('from before the clock was set back do not stay for ever', async () => {
      const { clock } = fixture();
      const now = clock.now();
      await beat(heartbeat('slightly ahead'));
      clock.set(now - 5_000);
      expect(await fixture().instances.list()).toMatchObject([{ id: 'slightly ahead', seenMs: 0 }]);
      clock.set(now - 3_600_000);
      expect(await ids()).toEqual([]);
    });
  });
}
