import { describe, expect, it } from 'vitest';
import { JobState } from '../../../../src/cli/bulk/job/job-state.js';
import type { Entry } from '../../../../src/cli/bulk/job/journal/entries.js';
import { ReceiptStore } from '../../../../src/cli/bulk/results/receipt-store.js';
import { Receipts } from '../../../../src/cli/bulk/results/receipts.js';
import {
  type ListingClient,
  type MessageListFilter,
  SingleMessages,
} from '../../../../src/cli/bulk/results/single-messages.js';
import { Reader } from '../../../../src/cli/reader/reader.js';
import type { Message, MessagePage } from '../../../../src/contract/index.js';
import { testFolder } from '../../../support/folders.js';
import { smsMessage } from '../../../support/resources.js';
import { memoryPlan, numbers } from '../memory-plan.js';
import { Refused } from '../model-service.js';
import { VirtualClock } from '../virtual-clock.js';

type Page = MessagePage | Error;

/** A job of single sends with the ids m0, m1 ..., on a service that answers lists with these pages in turn. */
function jobOf(count: number, pages: (filter: MessageListFilter, number: number) => Page) {
  const to = numbers(count);
  const plan = memoryPlan(to.map((each, index) => ({ to: [each], text: `Hi ${index}` })));
  const entries = to.flatMap((_, request): Entry[] => [
    { type: 'send', request, revision: 0, recipients: 1 },
    {
      type: 'accepted',
      request,
      revision: 0,
      id: `m${request}`,
      credits: 10,
      kind: 'single',
      replayOf: null,
      acceptedAt: null,
    },
  ]);
  entries.push({ type: 'end', at: '2026-01-01T00:10:00.000Z', exit: 0, balance: null, rate: null });
  const asked: MessageListFilter[] = [];
  const clock = new VirtualClock();
  const client: ListingClient = {
    messages: {
      get: () => Promise.reject(new Error('read one by one')),
      async list(filter) {
        const page = pages(filter, asked.push(filter) - 1);
        if (page instanceof Error) throw page;
        return page;
      },
    },
  };
  const folder = testFolder();
  const state = new JobState(plan.meta);
  for (const entry of entries) state.apply(entry);
  const gather = async ({ refresh = false, lists = true, offline = false } = {}) => {
    const store = await ReceiptStore.open(folder, { id: 'july', ...plan.meta });
    const reader = new Reader({
      rateLimiter: { take: async () => true, block: () => {} },
      now: clock.now,
      sleep: clock.sleep,
      after: clock.after,
      timeout: 60_000,
      stop: new AbortController().signal,
    });
    const known = lists ? client : { messages: { get: client.messages.get } };
    const single = new SingleMessages(known, reader);
    const ofBatch = { of: () => Promise.reject(new Error('there are no batches')) };
    const receipts = await clock.run(
      Receipts.gather({
        plan,
        state,
        messages: offline ? null : async () => ({ ofBatch, single }),
        store,
        refresh,
      }),
    );
    await store?.close();
    const of = (request: number) => receipts.of({ request, index: 0 });
    const { unreported, unread, unreadDeliveries } = receipts;
    const deliveries = to.map((_, request) => of(request).delivery);
    return { deliveries, unreported, unread, unreadDeliveries, of };
  };
  return { to, asked, gather };
}

const message = (number: number, to: string, delivery: string | null): Message =>
  ({ ...smsMessage({ id: `m${number}`, to }), delivery }) as Message;
const page = (data: Message[], next: string | null = null): MessagePage => ({ data, next });

describe('the delivery reports of single sends', () => {
  it('come from the list of the messages of its time, a page at a time, and are stored', async () => {
    const { to, asked, gather } = jobOf(3, (_, number) =>
      number === 0
        ? page([message(7, '99887766', 'delivered'), message(2, to[2] ?? '', 'bounced')], 'm2')
        : page([message(1, to[1] ?? '', null), message(0, to[0] ?? '', 'delivered')], 'm0'),
    );
    expect((await gather()).deliveries).toEqual(['delivered', '', 'bounced']);
    const filter = {
      channel: 'sms',
      since: '2025-12-31T00:00:00.000Z',
      until: '2026-01-02T00:10:00.000Z',
      limit: 1_000,
    };
    // All were found, so the next page is not read.
    expect(asked).toEqual([filter, { ...filter, after: 'm2' }]);
    const again = await gather({ offline: true });
    expect(again).toMatchObject({ deliveries: ['delivered', '', 'bounced'], unreported: 1 });
    await gather();
    expect(asked).toHaveLength(2);
  });

  it('are read again with --refresh, as far as they are not final', async () => {
    let late: string | null = null;
    const { to, asked, gather } = jobOf(2, () =>
      page([message(1, to[1] ?? '', 'delivered'), message(0, to[0] ?? '', late)], 'more'),
    );
    await gather();
    late = 'undelivered';
    expect((await gather()).deliveries).toEqual(['', 'delivered']);
    expect((await gather({ refresh: true })).deliveries).toEqual(['undelivered', 'delivered']);
    expect(asked).toHaveLength(2);
    await gather({ refresh: true });
    expect(asked).toHaveLength(2);
  });

  it('never come from the message of somebody else', async () => {
    const { gather } = jobOf(1, () => page([message(0, '99887766', 'delivered')]));
    expect((await gather()).of(0)).toMatchObject({ status: 'sent', delivery: '' });
  });

  it('cost no more than some pages, however many messages the project has', async () => {
    const { asked, gather } = jobOf(1, (_, number) => page([message(99, '99887766', null)], `p${number}`));
    expect((await gather()).deliveries).toEqual(['']);
    expect(asked).toHaveLength(25);
  });

  it.each([
    ['a service without lists', new Refused('not_found', 404), 1, null],
    ['a refused key', new Refused('unauthorized', 401), 1, 'unauthorized'],
    ['a service that is away', new Refused('unavailable', 503), 5, 'unavailable'],
  ])('are missing with %s, and nothing else', async (_, error, tries, code) => {
    const { asked, gather } = jobOf(2, () => error);
    const { deliveries, of, unread, unreadDeliveries } = await gather();
    expect(deliveries).toEqual(['', '']);
    expect(of(0)).toMatchObject({ status: 'sent', code: '', id: 'm0' });
    expect(asked).toHaveLength(tries);
    expect(unread).toBeNull();
    expect(unreadDeliveries).toEqual(code === null ? null : { rows: 2, code });
  });

  it('stay as they were stored where they cannot be read again', async () => {
    let error: Error | null = null;
    const { to, gather } = jobOf(2, () => {
      if (error !== null) throw error;
      return page([message(1, to[1] ?? '', 'delivered'), message(0, to[0] ?? '', 'unknown')]);
    });
    await gather();
    error = new Refused('unauthorized', 401);
    const { deliveries, unreadDeliveries } = await gather({ refresh: true });
    expect(deliveries).toEqual(['unknown', 'delivered']);
    expect(unreadDeliveries).toEqual({ rows: 1, code: 'unauthorized' });
  });

  it('are not awaited for failed messages', async () => {
    const { to, gather } = jobOf(1, () =>
      page([{ ...message(0, to[0] ?? '', null), status: 'failed' } as Message]),
    );
    await gather();
    expect((await gather()).unreported).toBe(0);
  });

  it('are missing where the client has no lists', async () => {
    expect((await jobOf(1, () => page([])).gather({ lists: false })).deliveries).toEqual(['']);
  });
});
