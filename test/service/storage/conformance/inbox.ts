import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Channel } from '../../../../src/contract/index.js';
import type { IncomingMessage, Outcome } from '../../../../src/service/storage/store.js';
import { batch, type Fixture, failed, message, newId, other, project, sent, unknown } from './fixture.js';

const halfHour = 1_800_000;
const every = { channel: null, since: null, until: null };

export function inboxConformance(fixture: () => Fixture): void {
  const incoming = (given: Partial<IncomingMessage> = {}): IncomingMessage => ({
    id: newId(),
    projectId: project.id,
    channel: 'sms',
    from: '99112233',
    to: '139911',
    subject: null,
    text: 'Тийм',
    fingerprint: null,
    part: null,
    ...given,
  });
  const keep = async (given: Partial<IncomingMessage> = {}) => {
    const kept = incoming(given);
    await fixture().store.keepIncoming(kept);
    return kept.id;
  };
  const page = (limit = 10, after: string | null = null) => ({ limit, after });
  const texts = async (projectId = project.id) =>
    (await fixture().store.listInbox(projectId, every, page()))?.records.map(({ text }) => text);

  describe('the inbox', () => {
    it('keeps messages of its project, newest first', async () => {
      const first = await keep();
      fixture().clock.advance(1_000);
      const email = {
        channel: 'email',
        from: 'a@b.mn',
        to: 'no-reply@shop.mn',
        subject: 'Re: Сайн уу',
      } as const;
      const second = await keep({ ...email, fingerprint: 'f1' });
      expect(await fixture().store.listInbox(other.id, every, page())).toEqual({ records: [], next: null });
      const listed = await fixture().store.listInbox(project.id, every, page());
      expect(listed).toEqual({
        next: null,
        records: [
          {
            id: second,
            projectId: project.id,
            ...email,
            text: 'Тийм',
            receivedAt: fixture().clock.now(),
            waitsForParts: false,
          },
          expect.objectContaining({ id: first, subject: null, receivedAt: fixture().clock.now() - 1_000 }),
        ],
      });
    });

    it('gives pages by the last id, and none behind one of another project', async () => {
      const ids = [await keep(), await keep(), await keep()];
      const theirs = await keep({ projectId: other.id });
      const first = await fixture().store.listInbox(project.id, every, page(2));
      expect(first?.records.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
      expect(first?.next).toBe(ids[1]);
      const second = await fixture().store.listInbox(project.id, every, page(2, ids[1]));
      expect(second).toMatchObject({ records: [{ id: ids[0] }], next: null });
      expect(await fixture().store.listInbox(project.id, every, page(2, theirs))).toBeNull();
    });

    it.each<[{ channel?: Channel; since?: number; until?: number }, string[]]>([
      [{ channel: 'email' }, ['c', 'a']],
      [{ since: 2_000 }, ['c', 'b']],
      [{ until: 2_000 }, ['a']],
      [{ since: 1_000, until: 3_000, channel: 'sms' }, ['b']],
      [{ since: 4_000 }, []],
    ])('lists what matches %o, page by page', async (filter, expected) => {
      const { store, clock } = fixture();
      const start = clock.now();
      for (const [text, channel] of [
        ['a', 'email'],
        ['b', 'sms'],
        ['c', 'email'],
      ] as const) {
        clock.advance(1_000);
        await keep({ text, channel });
        await keep({ text: 'theirs', channel, projectId: other.id });
      }
      const at = (time?: number) => (time === undefined ? null : start + time);
      const query = { ...every, ...filter, since: at(filter.since), until: at(filter.until) };
      const found: string[] = [];
      for (let after: string | null | undefined = null; after !== undefined; ) {
        const listed = await store.listInbox(project.id, query, page(1, after));
        found.push(...(listed?.records.map(({ text }) => text) ?? []));
        after = listed?.next ?? undefined;
      }
      expect(found).toEqual(expected);
    });

    it('lists every message once, some at a time, until their texts are long', async () => {
      const ids = [];
      for (let count = 0; count < 45; count += 1) ids.push(await keep({ text: `${count}` }));
      ids.push(await keep({ text: 'x'.repeat(600_000) }), await keep({ text: 'x'.repeat(600_000) }));
      const listed = async (after: string | null) => {
        const { records = [], next } =
          (await fixture().store.listInbox(project.id, every, page(50, after))) ?? {};
        return [records.map(({ id }) => id), next];
      };
      const newest = ids.reverse();
      expect(await listed(null)).toEqual([newest.slice(0, 1), newest[0]]);
      expect(await listed(newest[0] ?? '')).toEqual([newest.slice(1), null]);
    });

    it('finds one by its id, in its project alone', async () => {
      const id = await keep({ text: 'one' });
      const { store } = fixture();
      expect(await store.getIncoming(project.id, id)).toMatchObject({
        id,
        text: 'one',
        waitsForParts: false,
      });
      expect(await store.getIncoming(other.id, id)).toBeNull();
      expect(await store.getIncoming(project.id, 'none')).toBeNull();
    });

    it('keeps a message that is given again once, in each project', async () => {
      await Promise.all([keep({ fingerprint: 'f' }), keep({ fingerprint: 'f' })]);
      await keep({ fingerprint: 'f', projectId: other.id });
      await keep();
      await keep();
      expect([await texts(), await texts(other.id)]).toMatchObject([{ length: 3 }, { length: 1 }]);
    });

    it('joins the parts of a text in whatever order and however often they come', async () => {
      let series = 0;
      await fc.assert(
        fc.asyncProperty(fc.shuffledSubarray([1, 1, 2, 3, 3, 4], { minLength: 6 }), async (order) => {
          // Never twice: parts with one reference belong together for a while.
          series += 1;
          const reference = `${series}`;
          const before = (await texts())?.length ?? 0;
          for (const [index, number] of order.entries()) {
            await keep({ text: `<${number}>`, part: { reference, number, total: 4 } });
            const seen = new Set(order.slice(0, index + 1));
            const expected = [1, 2, 3, 4].map((each) => (seen.has(each) ? `<${each}>` : '[…]')).join('');
            expect((await texts())?.[0]).toBe(expected);
          }
          expect(await texts()).toHaveLength(Math.min(before + 1, 10));
        }),
        { numRuns: 5 },
      );
    });

    it('tells whether a part may still come, for half an hour', async () => {
      const waiting = async () =>
        (await fixture().store.listInbox(project.id, every, page()))?.records.map(
          (record) => record.waitsForParts,
        );
      const part = { reference: 'r', number: 2, total: 2 };
      await keep();
      await keep({ part });
      expect(await waiting()).toEqual([true, false]);
      fixture().clock.advance(halfHour - 1);
      expect(await waiting()).toEqual([true, false]);
      fixture().clock.advance(1);
      expect(await waiting()).toEqual([false, false]);
      await keep({ part });
      await keep({ part: { ...part, number: 1 } });
      expect(await waiting()).toEqual([false, false, false]);
    });

    it('joins parts that come at once', async () => {
      const parts = [1, 2, 3, 4, 5];
      await Promise.all(
        parts.map((number) => keep({ text: `${number}`, part: { reference: 'r', number, total: 5 } })),
      );
      expect(await texts()).toEqual(['12345']);
    });

    it('joins only parts of one sender, one recipient, one reference and one half hour', async () => {
      const part = { reference: 'r', number: 1, total: 2 };
      await keep({ text: 'a', part });
      const second = { text: 'b', part: { ...part, number: 2 } };
      await keep({ ...second, from: '88112233' });
      await keep({ ...second, to: '139912' });
      await keep({ ...second, part: { ...second.part, reference: 's' } });
      await keep({ ...second, part: { ...second.part, total: 3 } });
      await keep({ ...second, projectId: other.id });
      fixture().clock.advance(halfHour);
      await keep(second);
      expect(await texts()).toEqual(['[…]b', '[…]b[…]', '[…]b', '[…]b', '[…]b', 'a[…]']);
    });

    it('keeps a text that is sent again later with the same reference, whose parts fill no hole of the first', async () => {
      const parts = (...texts: string[]) =>
        texts.map((text, index) => ({ text, part: { reference: 'r', number: index + 1, total: 2 } }));
      for (const part of parts('a', 'b')) await keep(part);
      await keep(parts('c', 'd')[0] as object);
      fixture().clock.advance(halfHour);
      for (const part of parts('a', 'b')) await keep(part);
      for (const part of parts('x', 'y').reverse()) await keep(part);
      expect(await texts()).toEqual(['xy', 'ab', 'c[…]', 'ab']);
    });

    it('begins a new text for another part of the same number', async () => {
      const part = { reference: 'r', number: 1, total: 2 };
      await keep({ text: 'a', part });
      await keep({ text: 'c', part });
      await keep({ text: 'd', part: { ...part, number: 2 } });
      await keep({ text: 'b', part: { ...part, number: 2 } });
      expect(await texts()).toEqual(['cd', 'ab']);
    });
  });

  describe('the senders that a reply answers', () => {
    const days = 86_400_000;
    const senders = (to = '99112233', route = 'Mobicom') => fixture().store.listSendersTo(to, route);
    const finalizeAll = async (outcome: Outcome, route = 'Mobicom') => {
      const marked = await fixture().mark(await fixture().claim(), route);
      await fixture().finalize(marked, outcome);
    };

    it('are all projects that sent over its route within 30 days', async () => {
      const { store, clock } = fixture();
      await store.acceptBatch(batch(['99112233', '88112233']));
      expect(await senders()).toEqual([]);
      await finalizeAll(sent);
      clock.advance(1_000);
      await store.acceptMessage(message({ projectId: other.id }));
      await store.acceptMessage(message({ projectId: other.id }));
      await finalizeAll(unknown);
      expect(await senders()).toEqual([project.id, other.id]);
      expect([await senders('88112233'), await senders('99112234')]).toEqual([[project.id], []]);
      expect(await senders('99112233', 'Unitel')).toEqual([]);
      clock.advance(30 * days - 1_001);
      expect(await senders()).toEqual([project.id, other.id]);
      clock.advance(1);
      expect(await senders()).toEqual([other.id]);
      clock.advance(1_000);
      expect(await senders()).toEqual([]);
    });

    it('are those of a message that may be on its way, and none of one that failed', async () => {
      const { store } = fixture();
      await store.acceptMessage(message());
      await finalizeAll(failed);
      expect(await senders()).toEqual([]);
      await store.acceptMessage(message());
      await fixture().mark(await fixture().claim());
      expect(await senders()).toEqual([project.id]);
    });
  });

  it('an id alone finds its message, with the project', async () => {
    const mine = message();
    await fixture().store.acceptMessage(mine);
    expect(await fixture().store.findMessage(mine.recipient.id)).toMatchObject({
      projectId: project.id,
      to: '99112233',
    });
    expect(await fixture().store.findMessage('none')).toBeNull();
  });

  it('a reset empties inbox and suppressions', async () => {
    const { store } = fixture();
    await keep();
    await store.suppress(project.id, '1', 'manual');
    await store.beginReset('me', 1_000);
    await store.reset(1_000, 1_000);
    expect([await texts(), (await store.listSuppressions(project.id, page()))?.records]).toEqual([[], []]);
  });
}
