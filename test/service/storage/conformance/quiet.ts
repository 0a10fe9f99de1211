import { describe, expect, it } from 'vitest';
import type { ClaimedMessage } from '../../../../src/service/storage/store.js';
import { batch, content, type Fixture, message, other, project, start } from './fixture.js';

/** 20:59:50 in Ulaanbaatar. */
const evening = Date.UTC(2026, 5, 1, 12, 59, 50);
const night = evening + 10_000;
const morning = night + 11 * 3_600_000;

const listed = {
  channel: 'email',
  lane: 'email',
  route: 'email',
  to: 'a@example.mn',
  operator: null,
} as const;

export function quietConformance(fixture: () => Fixture): void {
  describe('quiet hours', () => {
    /** Milliseconds until a message is due. Whoever claims has looked for work before: here, each handle. */
    async function work(lane = 'sms') {
      const { store } = fixture();
      await store.nextWork([lane]);
      const { messages } = await store.nextWork([lane]);
      return messages === null ? null : Math.max(0, messages);
    }
    const set = (hours: string | null, projectId = project.id) =>
      fixture().store.changeSettings(projectId, (stored) => {
        return JSON.stringify({ ...JSON.parse(stored), quiet_hours: hours });
      });
    const giveBack = (claimed: readonly ClaimedMessage[]) =>
      fixture().store.postponeMessages(claimed.map((one) => ({ claimed: one, delayMs: 0, isTry: false })));
    const toOf = (claimed: readonly ClaimedMessage[]) => claimed.map(({ message: { to } }) => to).sort();

    it('let batches wait until they end, and others go on', async () => {
      const { store, clock } = fixture();
      await set('21:00-08:00');
      clock.set(evening);
      await store.acceptBatch(batch(['88000001', '88000002']));
      await store.acceptBatch(batch(['88000003'], { projectId: other.id }));
      await store.acceptMessage(message({ to: '88000004' }));
      clock.set(night);
      expect(await work()).toBe(0);
      expect(toOf(await fixture().claim())).toEqual(['88000003', '88000004']);
      expect(await work()).toBeGreaterThan(0);
      clock.set(morning - 1);
      expect([await work(), await fixture().claim()]).toEqual([1_000, []]);
      clock.set(morning);
      expect(await work()).toBe(0);
      expect(toOf(await fixture().claim())).toEqual(['88000001', '88000002']);
    });

    it('let queued single messages of lists wait, and other emails of the project go on', async () => {
      const { store, clock } = fixture();
      await set('21:00-08:00');
      clock.set(night);
      await store.acceptMessage(message(listed));
      await store.acceptMessage(
        message({ ...listed, to: 'b@example.mn', content: { ...content, isBulk: false } }),
      );
      expect(await work('email')).toBe(0);
      expect(toOf(await fixture().claim(10, 'email'))).toEqual(['b@example.mn']);
      expect(await work('email')).toBeGreaterThan(0);
      clock.set(morning);
      expect(await work('email')).toBe(0);
      const claimed = await fixture().claim(10, 'email');
      expect(toOf(claimed)).toEqual(['a@example.mn']);
      // Given back, and left behind, it takes its turn with the batches again.
      await giveBack(claimed);
      clock.set(night + 24 * 3_600_000);
      await work('email');
      expect(await fixture().claim(10, 'email')).toEqual([]);
      clock.set(morning + 24 * 3_600_000);
      await work('email');
      expect(toOf(await fixture().claimClass('batch', 10, 'email'))).toEqual(['a@example.mn']);
      clock.advance(60_000);
      await store.endLeases();
      await work('email');
      expect(toOf(await fixture().claimClass('batch', 10, 'email'))).toEqual(['a@example.mn']);
    });

    it('refuse the mark of what was claimed before, of lists alone, and take its outcome', async () => {
      const { store, clock } = fixture();
      await set('21:00-08:00');
      clock.set(evening);
      await store.acceptBatch(batch(['88000001', '88000002']));
      await store.acceptBatch(batch(['88000003'], { projectId: other.id }));
      await store.acceptMessage(message({ to: '88000004', content: { ...content, isBulk: false } }));
      await store.acceptMessage(message({ to: '88000005' }));
      await work();
      const claimed = await fixture().claim();
      expect(toOf(claimed)).toHaveLength(5);
      const first = claimed.filter(({ message: { to } }) => to === '88000001');
      const marked = await fixture().mark(first);
      expect(marked).toHaveLength(1);
      clock.set(night);
      await work();
      const late = claimed.filter((one) => !first.includes(one));
      expect(toOf(await fixture().mark(late))).toEqual(['88000003', '88000004']);
      expect(
        await fixture().finalize(marked, { status: 'sent', carrierIds: [], delivery: null }),
      ).toMatchObject([{ message: { status: 'sent' } }]);
    });

    it('hold at once when they are set, for what waits and for what is claimed, and end at once', async () => {
      const { store, clock } = fixture();
      clock.set(night + 1_000);
      await store.acceptBatch(batch(['88000001', '88000002']));
      await work();
      const [first, ...others] = await fixture().claim(1);
      await set('21:00-08:00');
      expect(await fixture().mark([first as ClaimedMessage])).toEqual([]);
      expect(others).toEqual([]);
      await work();
      expect(await fixture().claim()).toEqual([]);
      await set('21:00-23:00');
      await work();
      expect(await fixture().claim()).toEqual([]);
      await set(null);
      expect(await work()).toBe(0);
      expect(await fixture().claim()).toHaveLength(1);
      expect(await fixture().mark([first as ClaimedMessage])).toHaveLength(1);
    });

    it('leave a doubt open, which is claimed and not repeated', async () => {
      const { store, clock } = fixture();
      await set('21:00-08:00');
      clock.set(evening);
      await store.acceptBatch(batch(['88000001']));
      await work();
      const [claimed] = await fixture().claim();
      const mark = { attempt: 1, route: 'Mobicom', doubtMs: 300_000, request: new Uint8Array([1]) };
      await store.markSubmitting([{ claimed: claimed as ClaimedMessage, ...mark }]);
      const marked = { ...(claimed as ClaimedMessage), attempts: 1, mark: { attempt: 1, route: 'Mobicom' } };
      await store.leaveInDoubt([{ claimed: marked, delayMs: 0 }]);
      clock.set(night);
      await work();
      const [doubt] = await fixture().claimDoubts();
      expect(await store.markRepeating(doubt as ClaimedMessage, 600_000)).toBeNull();
      await set(null);
      await work();
      expect(await store.markRepeating(doubt as ClaimedMessage, 600_000)).not.toBeNull();
    });

    it('leave nothing due for whoever waits until nothing is', async () => {
      const { store, clock } = fixture();
      await set('21:00-08:00');
      clock.set(night);
      await store.acceptBatch(batch(['88000001']));
      await work();
      expect(await store.hasDue()).toBe(false);
      clock.set(morning);
      await work();
      expect(await store.hasDue()).toBe(true);
    });

    it('of a project do not hide when others are due again', async () => {
      const { store, clock } = fixture();
      clock.set(start);
      await store.acceptBatch(batch(['88000001', '88000002', '88000003'], { projectId: other.id }));
      await set('21:00-08:00');
      clock.set(night);
      await work();
      const [first, second, third] = await fixture().claim();
      await store.postponeMessages(
        [first, second, third].map((one) => ({
          claimed: one as ClaimedMessage,
          delayMs: 5_000,
          isTry: true,
        })),
      );
      await store.acceptBatch(batch(['88000004']));
      const wait = await work();
      expect(wait).toBeGreaterThan(0);
      clock.advance(5_000);
      expect(await work()).toBe(0);
      expect(await fixture().claim()).toHaveLength(3);
    });
  });
}
