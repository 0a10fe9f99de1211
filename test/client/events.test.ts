import { describe, expect, it } from 'vitest';
import type { FetchLike, UrtuuError } from '../../src/client/index.js';
import { clientWith, FakeSystem, failureOf } from '../support/client.js';
import { Feed } from '../support/feed.js';

/** A client of a feed; a call takes as long as it says. */
function listening(feed: Feed, takes = 0) {
  const system = new FakeSystem();
  const fetch: FetchLike = async (url) => {
    const { status = 200, body } = await feed.answer(new URL(url).search.slice(1));
    system.time += takes;
    return Response.json(body, { status });
  };
  return { system, client: clientWith({ fetch, maxRetries: 0 }, system) };
}

describe('events.listen', () => {
  it('is every event after a cursor, in order, and goes on after the last page', async () => {
    const feed = new Feed();
    for (const type of ['message.sent', 'message.delivery', 'message.sent'] as const) feed.add(type);
    const { client } = listening(feed);
    const seen: string[] = [];
    for await (const { id } of client.events.listen({ after: 'a00000000001-1', limit: 1 })) {
      seen.push(id);
      if (seen.length === 2) feed.add();
      if (seen.length === 3) break;
    }
    expect(seen).toEqual(feed.events.slice(1).map(({ id }) => id));
    expect(feed.asked).toEqual([1, 2, 3].map((number) => `after=a00000000001-${number}&limit=1&wait=20`));
  });

  it('passes what its types leave out', async () => {
    const feed = new Feed();
    const { client } = listening(feed);
    feed.add('message.sent');
    const wanted = feed.add('batch.completed');
    const { value } = await client.events.listen({ types: ['batch.completed', 'message.failed'] }).next();
    expect(value).toEqual(wanted);
  });

  it.each([
    ['at once', 0, 'a00000000001-0', [2_000]],
    ['early', 500, 'a00000000001-0', [1_500]],
    ['after a wait', 20_000, 'a00000000001-0', []],
    ['at once, and its types left something out', 0, 'a00000000001-7', []],
  ])('pauses where the answer is that nothing is new: %s', async (_, took, next, slept) => {
    const feed = new Feed();
    let calls = 0;
    const system = new FakeSystem();
    const fetch: FetchLike = async () => {
      system.time += took;
      calls += 1;
      if (calls === 2) feed.add();
      return Response.json({ data: feed.events, next });
    };
    await clientWith({ fetch }, system).events.listen({ after: 'a00000000001-0' }).next();
    expect({ calls, slept: system.slept }).toEqual({ calls: 2, slept });
  });

  it('throws cursor_expired at once', async () => {
    const feed = new Feed();
    const { client } = listening(feed);
    const next = client.events.listen({ after: 'b00000000002-1' }).next();
    expect(await failureOf(next)).toMatchObject({ code: 'cursor_expired', status: 410, attempts: 1 });
  });

  it('ends with the reason of its signal while it waits', async () => {
    const { client } = listening(new Feed());
    const controller = new AbortController();
    const next = client.events.listen({ after: 'now' }, { signal: controller.signal }).next();
    setImmediate(() => controller.abort('enough'));
    const { code, cause } = (await failureOf(next)) as UrtuuError;
    expect({ code, cause }).toEqual({ code: 'connection_error', cause: 'enough' });
  });
});

it.each([
  [undefined, 30_000],
  [0, 30_000],
  [5, 50_000],
  [20, 50_000],
])('events.list gives a call that waits %s s its timeout beside the wait', async (wait, timeout) => {
  const limits: number[] = [];
  const system = new FakeSystem();
  system.after = (milliseconds) => {
    limits.push(milliseconds);
    return () => {};
  };
  const fetch: FetchLike = async () => Response.json({ data: [], next: 'a00000000001-0' });
  await clientWith({ fetch }, system).events.list({ wait });
  expect(limits).toEqual([timeout]);
});

it.each([null, 7])('events.list takes no answer for one without a cursor: next %s', async (next) => {
  const fetch: FetchLike = async () => Response.json({ data: [], next });
  const failure = await failureOf(clientWith({ fetch }).events.list());
  expect(failure.message).toContain('(next is missing or malformed)');
});

it.each([
  ['data', 'a text'],
  ['data', undefined],
  ['data', []],
  ['type', null],
  ['at', 7],
])('events.list takes no event whose %s is %j', async (name, value) => {
  const feed = new Feed();
  const { client } = listening(feed);
  Object.assign(feed.add(), { [name]: value });
  expect(await failureOf(client.events.list())).toMatchObject({ code: 'unexpected_response' });
});
