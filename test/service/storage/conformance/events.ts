import { describe, expect, it } from 'vitest';
import type { EventPlace, EventsTaken, IncomingMessage } from '../../../../src/service/storage/store.js';
import {
  answerOf,
  batch,
  claimOf,
  type Fixture,
  failed,
  message,
  newId,
  other,
  project,
  sent,
  unknown,
} from './fixture.js';

const week = 7 * 86_400_000;
const line = 4_711;

export function eventConformance(fixture: () => Fixture): void {
  const begin = (projectId = project.id, given = line) => fixture().store.beginEvents(projectId, given);
  const take = (after: EventPlace | null = null, limit = 1_000, projectId = project.id) =>
    fixture().store.takeEvents(projectId, after, { limit, types: null });
  const taken = async (...given: Parameters<typeof take>): Promise<EventsTaken> => {
    const answer = await take(...given);
    if (answer === null || answer === 'expired') throw new Error(`no events: ${answer}`);
    return answer;
  };
  /** Their types, and the ids or recipients of what they are about. */
  const shown = ({ events }: EventsTaken) =>
    events.map(({ type, subject }) => {
      if (subject === null) return [type, null];
      return [type, 'id' in subject ? subject.id : subject.to];
    });
  const place = (number: number, of = line): EventPlace => ({ line: of, number });

  /** Sends to one and reports how it ended. */
  async function end(outcome: typeof sent, given: Parameters<typeof message>[0] = {}): Promise<string> {
    const { store } = fixture();
    const accepted = await store.acceptMessage(message({ claim: claimOf(fixture().newToken()), ...given }));
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    await fixture().finalize(accepted.claimed, outcome);
    return accepted.message.id;
  }
  const receipt = (carrierId: string, state: 'delivered' | 'undelivered') =>
    fixture().store.recordReceipts(
      [{ route: 'Mobicom', carrierId, to: '99112233', state, reference: '', submittedAt: null }],
      answerOf,
    );
  const incoming = (text: string, number = 1, total = 1): IncomingMessage => ({
    ...{ id: newId(), projectId: project.id, channel: 'sms', from: '99112233', to: '139911', subject: null },
    ...{ text, fingerprint: null, part: total === 1 ? null : { reference: 'r', number, total } },
  });

  describe('events', () => {
    it('are recorded from the first call on, in the project that asks', async () => {
      const { store, clock } = fixture();
      await end(sent);
      expect(await take()).toBeNull();
      expect(await store.eventLines([project.id])).toEqual([]);
      expect(await begin()).toBe(true);
      expect(await taken()).toEqual({ events: [], next: place(0) });
      clock.advance(1_000);
      await end(sent, { projectId: other.id });
      const id = await end(sent);
      expect(await store.eventLines([project.id, other.id])).toEqual([
        { projectId: project.id, line, number: 0, hasNew: true },
      ]);
      const event = { line, number: 1, type: 'message.sent', at: clock.now() };
      const subject = await store.getMessage(project.id, id);
      expect(await taken()).toEqual({ events: [{ ...event, subject }], next: place(1) });
      expect(await store.eventLines([project.id])).toMatchObject([{ number: 1, hasNew: false }]);
      expect(await take(null, 10, other.id)).toBeNull();
      expect(await take(place(0), 10, other.id)).toBe('expired');
    });

    it('tell how a message ended, then what is known of its delivery, then that its batch is complete', async () => {
      const { store } = fixture();
      await begin();
      const ids = [await end(sent), await end(failed), await end(unknown)];
      expect(shown(await taken())).toEqual([
        ['message.sent', ids[0]],
        ['message.failed', ids[1]],
        ['message.sent', ids[2]],
        ['message.delivery', ids[2]],
      ]);
      const { next } = await taken();
      const given = batch(['99112201', '99112202', '99112203']);
      await store.acceptBatch(given);
      const claimed = await fixture().mark(await fixture().claim(2));
      await fixture().finalize(claimed.slice(0, 1), sent);
      await fixture().finalize(claimed.slice(1), failed);
      await store.stopBatch(given.batchId, { code: 'provider_failed', message: 'stopped' });
      const [first, second, third] = given.recipients.map(({ id }) => id);
      const about = await taken(next);
      expect(shown(about)).toEqual([
        ['message.sent', first],
        ['message.failed', second],
        ['message.failed', third],
        ['batch.completed', given.batchId],
      ]);
      expect(about.events.at(-1)?.subject).toEqual(await store.getBatch(project.id, given.batchId));
      expect(await store.stopBatch(given.batchId, { code: 'x', message: '' })).not.toBeNull();
      expect(shown(await taken(about.next))).toEqual([]);
    });

    it('tell a delivery after its message, once, however often and early it is reported', async () => {
      await begin();
      await receipt('early', 'delivered');
      const early = await end({ status: 'sent', carrierIds: ['early'], delivery: null });
      const late = await end({ status: 'sent', carrierIds: ['late'], delivery: null });
      for (const state of ['undelivered', 'undelivered', 'delivered'] as const) await receipt('late', state);
      expect(shown(await taken())).toEqual([
        ['message.sent', early],
        ['message.delivery', early],
        ['message.sent', late],
        ['message.delivery', late],
      ]);
    });

    it('tell of what came in when its first part comes, and when it is whole', async () => {
      const { store } = fixture();
      await begin();
      const [single, one, two, three] = [
        incoming('hi'),
        incoming('a', 1, 3),
        incoming('b', 2, 3),
        incoming('c', 3, 3),
      ];
      for (const each of [single, one, one, two, three]) await store.keepIncoming(each);
      expect(shown(await taken())).toEqual([
        ['message.received', single.id],
        ['message.received', one.id],
        ['message.received', one.id],
      ]);
      await store.pruneInbox({ projectId: project.id, olderMs: null });
      expect((await taken()).events.map(({ subject }) => subject)).toEqual([null, null, null]);
    });

    it('tell of recipients that were suppressed, not of those that were before; nothing of them once erased', async () => {
      const { store } = fixture();
      await store.suppress(project.id, '99112200', 'manual');
      await begin();
      await store.suppressAll(project.id, ['99112200', '99112201', '99112202'], 'manual');
      await store.suppress(other.id, '99112203', 'manual');
      expect(shown(await taken())).toEqual([
        ['recipient.suppressed', '99112201'],
        ['recipient.suppressed', '99112202'],
      ]);
      await store.removeSuppression(project.id, '99112201');
      await store.eraseSuppressed('99112202');
      expect(shown(await taken())).toEqual([
        ['recipient.suppressed', null],
        ['recipient.suppressed', ''],
      ]);
    });

    it('tell nothing of what came later in the place of what they were about', async () => {
      const { store } = fixture();
      await begin();
      await store.suppress(project.id, '99112201', 'manual');
      await store.keepIncoming(incoming('Hi'));
      await store.removeSuppression(project.id, '99112201');
      await store.pruneInbox({ projectId: project.id, olderMs: null });
      await store.suppress(other.id, '99112203', 'manual');
      await store.keepIncoming({ ...incoming('Secret'), projectId: other.id });
      expect(shown(await taken())).toEqual([
        ['recipient.suppressed', null],
        ['message.received', null],
      ]);
    });

    it('are read as they are now: an erasure erases', async () => {
      const { store } = fixture();
      await begin();
      await end(sent);
      await store.pruneMessages(await store.listFinalTo('99112233', null), null);
      expect((await taken()).events).toMatchObject([{ subject: { to: '' } }]);
    });

    it('keep their numbers, come in pages, and leave out other types', async () => {
      const { store } = fixture();
      await begin();
      const ids = [];
      for (const outcome of [sent, failed, sent, failed, sent]) ids.push(await end(outcome));
      const first = await taken(null, 2);
      expect([shown(first).map(([, id]) => id), first.next]).toEqual([ids.slice(0, 2), place(2)]);
      expect(await taken(null, 2)).toEqual(first);
      expect(shown(await taken(first.next, 2)).map(([, id]) => id)).toEqual(ids.slice(2, 4));
      const failures = (after: EventPlace | null, limit: number) =>
        store.takeEvents(project.id, after, { limit, types: ['message.failed'] });
      expect(await failures(null, 1)).toMatchObject({ events: [{ number: 2 }], next: place(2) });
      expect(await failures(place(2), 1)).toMatchObject({ events: [{ number: 4 }], next: place(5) });
      expect(await failures(place(5), 1)).toEqual({ events: [], next: place(5) });
    });

    it.each<[name: string, EventPlace]>([
      ['another line', place(1, line + 1)],
      ['a number that was not given', place(2)],
    ])('behind a place of %s are expired', async (_, after) => {
      await begin();
      await end(sent);
      expect(await taken()).toMatchObject({ next: place(1) });
      expect(await take(after)).toBe('expired');
      expect(await taken(place(1))).toEqual({ events: [], next: place(1) });
    });

    it('are kept for a week, also those that nobody has read; then places before them are expired', async () => {
      const { store, clock } = fixture();
      await begin();
      for (let count = 0; count < 3; count += 1) await end(sent);
      await taken(null, 2);
      clock.advance(week - 1);
      await end(failed);
      await taken(place(0), 1);
      expect(await store.pruneEvents()).toBe(0);
      clock.advance(2);
      expect(await store.pruneEvents()).toBe(3);
      expect(await store.pruneEvents()).toBe(0);
      expect(await take(place(2))).toBe('expired');
      const { events } = await taken(place(3));
      expect(events).toMatchObject([{ number: 4, type: 'message.failed' }]);
      expect(await taken()).toEqual({ events, next: place(4) });
    });

    it('end a week after the last call: nothing more is recorded, and the next line begins with none', async () => {
      const { store, clock } = fixture();
      await begin();
      await begin(other.id, line + 1);
      await end(sent);
      clock.advance(week);
      await store.takeEvents(other.id, null, { limit: 1, types: null });
      clock.advance(1);
      let pruned = 0;
      for (let some = 1; some > 0; pruned += some) some = await store.pruneEvents();
      expect(pruned).toBeGreaterThan(0);
      await end(sent);
      expect(await store.eventLines([project.id, other.id])).toMatchObject([{ projectId: other.id }]);
      expect(await take(place(0))).toBe('expired');
      expect(await take()).toBeNull();
      await begin(project.id, line + 2);
      expect(await taken()).toEqual({ events: [], next: place(0, line + 2) });
    });

    it('count a call from the future as one of now', async () => {
      const { store, clock } = fixture();
      clock.advance(10 * week);
      await begin();
      clock.advance(-10 * week);
      await store.pruneEvents();
      clock.advance(week + 1);
      await store.pruneEvents();
      expect(await store.eventLines([project.id])).toEqual([]);
    });

    it.each<[string, () => Promise<unknown>]>([
      ['a reset', () => fixture().store.reset(1_000, 1)],
      [
        'a release',
        async () => {
          await fixture().store.hold('restored');
          await fixture().store.release();
        },
      ],
    ])('end with %s', async (_, happen) => {
      await begin();
      await end(sent);
      const { next } = await taken();
      await happen();
      expect(await take(next)).toBe('expired');
      expect(await take()).toBeNull();
      await begin(project.id, line + 1);
      expect(await taken()).toEqual({ events: [], next: place(0, line + 1) });
    });

    it('get no number while the store is held: others may have been reported under it', async () => {
      const { store } = fixture();
      await begin();
      await end(sent);
      await taken();
      const accepted = await store.acceptMessage(message({ claim: claimOf('held') }));
      await store.hold('restored');
      await fixture().finalize(accepted.kind === 'accepted' ? accepted.claimed : [], sent);
      expect(await taken()).toMatchObject({ events: [{ number: 1 }], next: place(1) });
    });

    it('have one line, whoever begins it first', async () => {
      const { store } = fixture();
      expect(await Promise.all([1, 2, 3, 4].map((each) => begin(project.id, each)))).toEqual(
        Array(4).fill(true),
      );
      const [state] = await store.eventLines([project.id]);
      expect(await taken()).toEqual({ events: [], next: { line: state?.line, number: 0 } });
    });

    it('are numbered once, by however many readers at once', async () => {
      await begin();
      const writers = Array.from({ length: 30 }, (_, index) => end(sent, { to: `9911${2_000 + index}` }));
      const readers = Array.from({ length: 20 }, () => taken());
      await Promise.all([...writers, ...readers]);
      const { events } = await taken();
      expect(events.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
      expect(new Set(shown({ events, next: place(0) }).map(([, id]) => id)).size).toBe(30);
      for (const reader of readers) {
        const { events: seen } = await reader;
        expect(seen).toEqual(events.slice(0, seen.length));
      }
    });
  });
}
