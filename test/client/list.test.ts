import { describe, expect, it } from 'vitest';
import type { FetchLike, List, Urtuu, UrtuuError } from '../../src/client/index.js';
import { clientWith, FakeSystem, failureOf } from '../support/client.js';

/** A service with these items in each list, and the paths it was asked for. */
function listing(ids: readonly string[]) {
  const asked: string[] = [];
  const fetch: FetchLike = async (url) => {
    const { pathname, search, searchParams } = new URL(url);
    asked.push(pathname + search);
    const start = searchParams.has('after') ? ids.indexOf(searchParams.get('after') as string) + 1 : 0;
    const page = ids.slice(start, start + Number(searchParams.get('limit') ?? 100));
    const more = start + page.length < ids.length;
    return Response.json({ data: page.map((id) => ({ id })), next: more ? page.at(-1) : null });
  };
  return { asked, fetch };
}

const ids = (count: number) => Array.from({ length: count }, (_, at) => `i${at + 1}`);
async function all<Item extends { id: string }>(list: AsyncIterable<Item>): Promise<string[]> {
  const seen: string[] = [];
  for await (const { id } of list) seen.push(id);
  return seen;
}

type Lister = (client: Urtuu, page?: { limit?: number; after?: string }) => List<{ id: string }>;
const lists: [string, string, Lister][] = [
  ['messages.list', '/v1/messages', (c, page) => c.messages.list(page) as never],
  ['batches.list', '/v1/batches', (c, page) => c.batches.list(page) as never],
  ['batches.messages', '/v1/batches/b1/messages', (c, page) => c.batches.messages('b1', page) as never],
];

describe.each(lists)('%s', (_, path, list) => {
  it('awaited is one page', async () => {
    const { asked, fetch } = listing(ids(5));
    const client = clientWith({ fetch });
    expect(await list(client, { limit: 2 })).toEqual({ data: [{ id: 'i1' }, { id: 'i2' }], next: 'i2' });
    expect(await list(client, { limit: 2, after: 'i4' })).toEqual({ data: [{ id: 'i5' }], next: null });
    expect(asked).toEqual([`${path}?limit=2`, `${path}?limit=2&after=i4`]);
  });

  it.each([0, 1, 2, 3, 4, 5])('iterated is all %d items, page after page', async (count) => {
    const { asked, fetch } = listing(ids(count));
    expect(await all(list(clientWith({ fetch }), { limit: 2 }))).toEqual(ids(count));
    expect(asked).toHaveLength(Math.max(1, Math.ceil(count / 2)));
  });

  it('begins after an item', async () => {
    const { fetch } = listing(ids(5));
    expect(await all(list(clientWith({ fetch }), { limit: 1, after: 'i3' }))).toEqual(['i4', 'i5']);
  });

  it('requests nothing before it is awaited, one page when it is awaited twice, anew when iterated', async () => {
    const { asked, fetch } = listing(ids(3));
    const lazy = list(clientWith({ fetch }));
    await new Promise(setImmediate);
    expect(asked).toEqual([]);
    expect(await lazy).toBe(await lazy);
    expect(await lazy.finally(() => {}).catch(() => null)).toBe(await lazy);
    expect(asked).toHaveLength(1);
    await all(lazy);
    await all(lazy);
    expect(asked).toHaveLength(3);
  });

  it('requests no page that nobody reads', async () => {
    const { asked, fetch } = listing(ids(9));
    for await (const { id } of list(clientWith({ fetch }), { limit: 2 })) if (id === 'i3') break;
    expect(asked).toHaveLength(2);
  });

  it('meets a rate limit on a page as every call does', async () => {
    const { fetch } = listing(ids(5));
    let requests = 0;
    const limiting: FetchLike = async (url, init) => {
      requests += 1;
      return requests % 2 === 1
        ? Response.json({ error: { code: 'rate_limited' } }, { status: 429, headers: { 'Retry-After': '1' } })
        : fetch(url, init);
    };
    const system = new FakeSystem();
    expect(await all(list(clientWith({ fetch: limiting }, system), { limit: 2 }))).toEqual(ids(5));
    expect(system.slept).toEqual([1_000, 1_000, 1_000]);
  });

  it.each([
    ['the page before', 'i1'],
    ['an earlier page', 'i0'],
  ])('of a service that returns %s again ends with unexpected_response', async (_, again) => {
    const pages = ['i0', 'i1', again];
    let count = 0;
    const fetch: FetchLike = async () => {
      const next = pages[count++ % pages.length];
      return Response.json({ data: [{ id: next }], next });
    };
    expect(await failureOf(all(list(clientWith({ fetch }))))).toMatchObject({
      code: 'unexpected_response',
      message: 'the service keeps returning the same page',
    });
    expect(count).toBe(3);
  });

  it.each([
    [{ size: 1 }, 'Unknown option "size"'],
    [{ limit: [1] }, 'limit must be a number'],
    [{ after: { id: 'i1' } }, 'after must be a string'],
    [null, 'Options must be an object'],
  ])('of %j rejects, and nothing is requested', async (page, message) => {
    const { asked, fetch } = listing([]);
    const refused = list(clientWith({ fetch }), page as never);
    await expect(refused).rejects.toThrow(message);
    await expect(all(refused)).rejects.toThrow(TypeError);
    expect(asked).toEqual([]);
  });

  it.each([
    [{}, 'data'],
    [{ data: [{}], next: null }, 'data'],
    [{ data: [] }, 'next'],
    [{ data: [], next: 7 }, 'next'],
  ])('%j is no page', async (body, field) => {
    const failure = await failureOf(list(clientWith({ fetch: async () => Response.json(body) })));
    expect(failure).toMatchObject({ code: 'unexpected_response', message: expect.stringContaining(field) });
  });
});

describe('filters', () => {
  it('go out as they are named, without those that are undefined', async () => {
    const { asked, fetch } = listing([]);
    const client = clientWith({ fetch });
    await client.messages.list({
      to: '+976 9911-2233',
      channel: 'sms',
      status: 'sent',
      delivery: 'bounced',
      batch_id: 'b&1',
      since: '2030-01-01T00:00:00Z',
      until: undefined,
      limit: 1_000,
    });
    await client.batches.list({ channel: 'email', status: 'processing', until: '2030-01-01' });
    expect(asked).toEqual([
      '/v1/messages?to=%2B976+9911-2233&channel=sms&status=sent&delivery=bounced&batch_id=b%261' +
        '&since=2030-01-01T00%3A00%3A00Z&limit=1000',
      '/v1/batches?channel=email&status=processing&until=2030-01-01',
    ]);
  });

  it('a date that is no string is refused, not sent as its English words', async () => {
    const { asked, fetch } = listing([]);
    const list = clientWith({ fetch }).messages.list({ since: new Date(0) as never });
    await expect(list).rejects.toThrow(new TypeError('since must be a string'));
    expect(asked).toEqual([]);
  });

  it('are those of the moment the method was called', async () => {
    const { asked, fetch } = listing(ids(2));
    const filter: { status: 'sent' | 'failed'; limit: number } = { status: 'sent', limit: 1 };
    const list = clientWith({ fetch }).messages.list(filter);
    filter.status = 'failed';
    await all(list);
    expect(asked).toEqual(['/v1/messages?status=sent&limit=1', '/v1/messages?status=sent&limit=1&after=i1']);
  });
});

describe('a service without the extension', () => {
  const without =
    (status: number, code: string): FetchLike =>
    async () =>
      Response.json({ error: { code, message: 'no such route' } }, { status });
  const endOf = (fetch: FetchLike, call: (client: Urtuu) => PromiseLike<unknown>) =>
    Promise.resolve(call(clientWith({ fetch }))).then(
      () => null,
      ({ code, status, message }: UrtuuError) => ({ code, status, message }),
    );

  it.each([
    [404, 'not_found'],
    [405, 'method_not_allowed'],
  ])('answers %d: the error says that it offers none', async (status, code) => {
    const fetch = without(status, code);
    expect(await endOf(fetch, (c) => c.messages.list())).toEqual({
      code,
      status,
      message: 'this service does not offer lists of messages',
    });
    expect(await endOf(fetch, (c) => c.batches.list())).toMatchObject({
      message: 'this service does not offer lists of batches',
    });
    expect(await endOf(fetch, (c) => c.messages.get('m'))).toMatchObject({ message: 'no such route' });
  });

  it('cannot be told from a missing batch by 404', async () => {
    const list = (c: Urtuu) => c.batches.messages('b');
    expect(await endOf(without(404, 'not_found'), list)).toMatchObject({ message: 'no such route' });
    expect(await endOf(without(405, 'method_not_allowed'), list)).toMatchObject({
      message: 'this service does not offer the messages of a batch',
    });
  });
});
