import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../src/service/clock.js';
import { keyTopic, messageTopic, type Topic } from '../../../../src/service/storage/changes.js';
import type { Engine, Handle } from './engine.js';
import { answerOf, claimOf, message, project, sent, start } from './fixture.js';

/** The rules of changes, for every engine: those of this handle at once, those of another one within its poll. */
export function changesConformance(engine: Engine): void {
  describe(`changes: ${engine.name}`, () => {
    let handles: [Handle, Handle];
    let clock: ManualClock;

    beforeEach(async () => {
      clock = new ManualClock(start);
      handles = (await engine.open([clock, clock])) as [Handle, Handle];
      await handles[0].store.createProject(project);
    });
    afterEach(() => Promise.all(handles.map((handle) => handle.close())));

    async function finalizeOne(): Promise<() => Promise<unknown>> {
      const accepted = await handles[0].store.acceptMessage(
        message({ id: 'm', idempotencyKey: 'k', claim: claimOf('a') }),
      );
      const claimed = accepted.kind === 'accepted' ? accepted.claimed : [];
      return () =>
        handles[0].store.finalizeMessages(
          claimed.map((one) => ({ claimed: one, outcome: sent })),
          answerOf,
        );
    }

    const topics: Topic[] = [messageTopic('m'), keyTopic(project.id, 'k')];

    it.each(topics)('wakes who waits for %s, at once', async (topic) => {
      const finalize = await finalizeOne();
      let woken = 0;
      let foreign = 0;
      handles[0].changes.subscribe(topic, () => (woken += 1));
      handles[0].changes.subscribe(messageTopic('other'), () => (foreign += 1));
      await finalize();
      expect([woken, foreign]).toEqual([1, 0]);
    });

    it.each(topics)('wakes who waits for %s in another process, within its poll', async (topic) => {
      const finalize = await finalizeOne();
      let woken = 0;
      const stop = handles[1].changes.subscribe(topic, () => (woken += 1));
      await finalize();
      clock.advance(100);
      expect(woken).toBeGreaterThan(0);
      stop();
      const before = woken;
      clock.advance(1_000);
      expect(woken).toBe(before);
    });

    it('wakes the dispatcher for what is due, and not for what was claimed', async () => {
      let woken = 0;
      handles[0].changes.subscribe('due', () => (woken += 1));
      await handles[0].store.acceptMessage(message({ claim: claimOf('a') }));
      expect(woken).toBe(0);
      await handles[0].store.acceptMessage(message());
      expect(woken).toBe(1);
    });

    it('wakes everyone when a reset has ended', async () => {
      let woken = 0;
      handles[0].changes.subscribe(messageTopic('m'), () => (woken += 1));
      await handles[0].store.beginReset('one', 4_000);
      await handles[0].store.endReset('one');
      expect(woken).toBe(1);
    });
  });
}
