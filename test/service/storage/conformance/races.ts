import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../src/service/clock.js';
import type { ClaimedMessage, Store } from '../../../../src/service/storage/store.js';
import type { Engine, Handle } from './engine.js';
import { answerOf, batch, claimOf, doubtMs, leaseMs, message, project, sent, start } from './fixture.js';

/** Two handles of one store at once: what one process does must hold in the other. */
export function raceConformance(engine: Engine): void {
  describe.each([
    ['the same clock', 0],
    ['clocks that differ by an hour', 3_600_000],
  ])(`two processes at once: ${engine.name}, %s`, (_, difference) => {
    let handles: Handle[];
    let clocks: ManualClock[];
    let one: Store;
    let two: Store;
    const both = <Result>(work: (store: Store, index: number) => Promise<Result>, times: number) =>
      Promise.all(Array.from({ length: times }, (_, index) => work(index % 2 === 0 ? one : two, index)));
    const claim = (store: Store, token: string, limit = 1_000) =>
      store.claimMessages({ token, leaseMs, limit, lane: 'sms', class: 'batch' });
    const finalize = (store: Store, claimed: readonly ClaimedMessage[]) =>
      store.finalizeMessages(
        claimed.map((each) => ({ claimed: each, outcome: sent })),
        answerOf,
      );

    beforeEach(async () => {
      clocks = [new ManualClock(start), new ManualClock(start + difference)];
      handles = await engine.open(clocks);
      [one, two] = handles.map(({ store }) => store) as [Store, Store];
      await one.createProject(project);
    });
    afterEach(() => Promise.all(handles.map((handle) => handle.close())));

    it('one of many requests with a key is accepted', async () => {
      const results = await both((store) => store.acceptMessage(message({ idempotencyKey: 'k' })), 40);
      expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
      expect((await one.getProject(project.id))?.balance).toBe(990);
    });

    it.runIf(engine.ownsTime || difference === 0)('a cap holds', async () => {
      const results = await both((store) => store.acceptMessage(message({ caps: [5, 20] })), 40);
      expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(5);
    });

    it('nothing is overdrawn', async () => {
      const results = await both(
        (store, index) => store.acceptMessage(message({ to: `${index}`, credits: 70 })),
        40,
      );
      expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(14);
      expect((await two.getProject(project.id))?.balance).toBe(20);
    });

    it('a message is claimed once', async () => {
      await one.createProject({ id: 'rich', name: 'Rich', balance: 100_000 });
      const to = Array.from({ length: 1_000 }, (_, index) => `${index}`);
      await one.acceptBatch(batch(to, { projectId: 'rich' }));
      await two.acceptBatch(batch(to, { projectId: 'rich' }));
      // What the other clock has queued is due for this one as soon as it looks.
      const groups = await both((store, index) => claim(store, `c${index}`, 300), 12);
      // A claim passes what another has locked, and that one may leave it.
      groups.push(await claim(one, 'after'));
      const ids = groups.flat().map(({ message: { id } }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toHaveLength(2_000);
    });

    it('every message is counted once, whoever claims and gives back meanwhile', async () => {
      const messages = 60;
      await one.acceptBatch(batch(Array.from({ length: messages }, (_, index) => `${index}`)));
      for (let round = 0; round < 20; round += 1) {
        const [claimed, [depth], unfinished] = await Promise.all([
          claim(one, `c${round}`, 1 + round),
          two.queueDepth(),
          two.countUnfinished(),
        ]);
        const waiting = one.postponeMessages(
          claimed.map((each) => ({ claimed: each, delayMs: 0, isTry: false })),
        );
        const [[again]] = await Promise.all([two.queueDepth(), waiting]);
        for (const lane of [depth, again]) expect((lane?.waiting ?? 0) + (lane?.claimed ?? 0)).toBe(messages);
        expect(unfinished).toEqual({ messages, submitting: 0 });
      }
    });

    it('messages of one project that end at once all end', async () => {
      const to = Array.from({ length: 40 }, (_, index) => `${index}`);
      const accepted = await Promise.all(
        [one, two].map((store, index) => store.acceptBatch(batch(to, { claim: claimOf(`a${index}`) }))),
      );
      const claimed = accepted.flatMap((each) => (each.kind === 'accepted' ? each.claimed : []));
      const ends = await both(
        (store, index) => finalize(store, claimed.slice(index * 10, index * 10 + 10)),
        8,
      );
      expect(ends.flat().filter((end) => end === null)).toEqual([]);
      expect(ends.flat()).toHaveLength(80);
      expect(await one.hasDue()).toBe(false);
    });

    it('one of two that end a message ends it', async () => {
      const accepted = await one.acceptMessage(message({ claim: claimOf('a') }));
      const claimed = accepted.kind === 'accepted' ? accepted.claimed : [];
      const ends = await both((store) => finalize(store, claimed), 6);
      expect(ends.flat().filter((end) => end !== null)).toHaveLength(1);
    });

    it('the end of a message is answered with the balance that is bound to its key', async () => {
      await one.createProject({ id: 'rich', name: 'Rich', balance: 1_000_000 });
      let isOver = false;
      const credits = (async () => {
        while (!isOver) await two.credit('rich', 1);
      })();
      try {
        for (let round = 0; round < 40; round += 1) {
          const idempotencyKey = `k${round}`;
          const given = { projectId: 'rich', to: `${round}`, claim: claimOf(`t${round}`), idempotencyKey };
          const accepted = await one.acceptMessage(message(given));
          const claimed = accepted.kind === 'accepted' ? accepted.claimed : [];
          const [end] = await finalize(one, claimed);
          if (!end) throw new Error('it has not ended');
          expect(await two.findAnswer('rich', idempotencyKey)).toEqual(answerOf(end.message, end.balance));
        }
      } finally {
        isOver = true;
        await credits;
      }
    });

    it('a process that paused is fenced', async () => {
      const paused = await one.acceptMessage(message({ claim: claimOf('a') }));
      const claimed = paused.kind === 'accepted' ? (paused.claimed[0] as ClaimedMessage) : null;
      if (claimed === null) throw new Error('not accepted');
      clocks[1]?.advance(2 * leaseMs);
      await two.endLeases();
      const doubts = await two.claimDoubts({ token: 'b', leaseMs, limit: 10, lane: 'sms' });
      await two.postponeMessages(doubts.map((each) => ({ claimed: each, delayMs: 0, isTry: false })));
      const [again] = (await two.claimMessages({
        token: 'c',
        leaseMs,
        limit: 10,
        lane: 'sms',
        class: 'single',
      })) as [ClaimedMessage];
      const mark = { claimed: again, attempt: 2, route: 'Mobicom', doubtMs };
      expect(await two.markSubmitting([mark])).toEqual([true]);
      // It goes on.
      expect(await one.renewLeases(['a'], leaseMs)).toEqual([false]);
      expect(await one.markSubmitting([{ ...mark, claimed, attempt: 2 }])).toEqual([false]);
      expect(await finalize(one, [claimed])).toEqual([null]);
      const marked = { ...again, attempts: 2, mark: { attempt: 2, route: 'Mobicom' } };
      expect(await finalize(two, [marked])).toMatchObject([{ message: { status: 'sent' } }]);
    });
  });
}
