import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deliverAll } from '../../../../src/cli/commands/events/deliver.js';
import { execute } from '../../../../src/cli/commands/events/execute.js';
import { forwardTo } from '../../../../src/cli/commands/events/forward.js';
import type { Listener } from '../../../../src/cli/commands/events/listener.js';
import type { EventPage, UrtuuEvent } from '../../../../src/contract/index.js';
import { Feed } from '../../../support/feed.js';
import { smsMessage } from '../../../support/resources.js';

type Place = NonNullable<Listener['place']>;
const event: UrtuuEvent = {
  id: 'a00000000001-1',
  type: 'message.sent',
  at: '2026-11-21T00:00:00.000Z',
  data: smsMessage({}),
};

/** Where a process is killed: before the program has the event, or after it took it and before the place is kept. */
const step = fc.constantFrom('taken', 'refused', 'killed before', 'killed after', 'stopped');

it('each event is delivered at least once, in order, and none before the one before it was taken', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step), fc.integer({ min: 1, max: 5 }), async (steps, count) => {
      const feed = new Feed();
      for (let each = 0; each < count; each += 1) feed.add();
      let cursor = '';
      const begun: string[] = [];
      const taken = new Set<string>();
      const left = [...steps];
      /** A process, until it is killed or ends. */
      const start = async () => {
        const controller = new AbortController();
        const listener = {
          name: 'default',
          get place() {
            return { cursor } as Place;
          },
          skips: () => false,
          waitAt: async () => {},
          moveTo: async (to: string) => {
            if (now === 'killed after') throw new Error(now);
            cursor = to;
          },
        };
        async function* pages(): AsyncGenerator<EventPage> {
          // One for each event and each step, and no more where it does not get on.
          for (let page = 0; page <= count + steps.length && cursor !== feed.events.at(-1)?.id; page += 1)
            yield (await feed.answer(`after=${cursor}&limit=2`)).body as EventPage;
        }
        let now = '';
        await deliverAll(
          {
            io: { note() {}, warn() {} } as never,
            clock: { sleep: async () => {} } as never,
            network: { random: () => 0 } as never,
            signal: controller.signal,
          },
          pages(),
          listener,
          async ({ id }) => {
            begun.push(id);
            now = left.shift() ?? 'taken';
            if (now === 'killed before') throw new Error(now);
            if (now === 'stopped') controller.abort();
            if (now === 'refused') return 'HTTP 500';
            taken.add(id);
            return null;
          },
        );
      };
      for (let each = 0; each <= steps.length; each += 1)
        await start().catch((error) => expect(error.message).toMatch(/^killed/));
      expect([...taken]).toEqual(feed.events.map(({ id }) => id));
      const numbers = begun.map((id) => Number(id.split('-')[1]));
      for (const [at, number] of numbers.entries()) expect(number - (numbers[at - 1] ?? 0)).toBeLessThan(2);
      for (const [at, number] of numbers.entries())
        expect(number).toBeGreaterThanOrEqual(numbers[at - 1] ?? 0);
    }),
  );
});

it('--forward-to gives up after 15 s, wherever the answer stops', async () => {
  for (const body of [
    null,
    (async function* () {
      yield await new Promise<never>(() => {});
    })(),
  ]) {
    let limit = 0;
    const clock = {
      now: () => 0,
      after(milliseconds: number, run: () => void) {
        limit = milliseconds;
        setImmediate(run);
        return () => {};
      },
    };
    const fetch = async () =>
      body === null ? new Promise<never>(() => {}) : { status: 200, headers: new Headers(), body };
    const network = { fetchFor: async () => fetch };
    const deliver = await forwardTo({ clock, network } as never, 'https://shop.example.mn/', 'whsec_eA==');
    expect(await deliver(event)).toBe('no answer within 15 s');
    expect(limit).toBe(15_000);
  }
});

it.runIf(process.platform !== 'win32').each([
  ['reads the event as a line', `test "$(cat)" = '${JSON.stringify(event)}'`, null],
  ['has nothing of it in its arguments', 'test $# = 0', null],
  ['has neither the key nor passwords', 'test -z "$URTUU_API_KEY$URTUU_SANDBOX_KEY$URTUU_DATABASE"', null],
  ['knows where an urtuu in it sends, and its own variables', 'test "$URTUU_SANDBOX$PLACE" = 1UB', null],
  ['need not read', 'exit 0', null],
  ['may refuse', 'cat > /dev/null; exit 3', 'exit code 3'],
  ['may be killed', 'kill -9 $$', 'killed by SIGKILL'],
  ['may not exist', 'exec no-such-command 2> /dev/null', 'exit code 127'],
])('the command of --exec %s', async (_, line, fault) => {
  const env = {
    PATH: process.env.PATH,
    URTUU_API_KEY: 'urtuu_A',
    URTUU_SANDBOX_KEY: 'urtuu_B',
    URTUU_DATABASE: 'postgres://me:secret@db/urtuu',
    URTUU_SANDBOX: '1',
    PLACE: 'UB',
  };
  expect(await execute({ env, platform: process.platform }, line)(event)).toBe(fault);
});
