import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core, CoreDoubles } from '../../../src/service/core.js';
import { createService } from '../../../src/service/index.js';
import type { Store } from '../../../src/service/storage/store.js';
import { Cores, caller, outboxOf, replayOf, requestsTo, ticks } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

const minute = 60_000;
const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);

let clock: ManualClock;
let core: Core;
const { send, sendBulk } = requestsTo(() => core);

async function open(directory = cores.folder(), doubles: CoreDoubles = {}): Promise<string> {
  clock = new ManualClock(start);
  core = await cores.open({ directory, clock }, doubles);
  return directory;
}

const recipients = async () => (await outboxOf(core)).map(({ to }) => to);

/** Whatever of one person the service still answers. */
async function tracesOf(to: string): Promise<string[]> {
  const { data } = await core.operations.listMessages(caller, {}, { limit: 9, after: null });
  const answers = await Promise.all(['key-1', 'key-2'].map((key) => replayOf(core, key)));
  const inbox = (await core.administration.inbox()).data;
  const suppressed = (await core.administration.suppressions.list()).data;
  return JSON.stringify([data, answers, inbox, suppressed, await outboxOf(core)])
    .split(to)
    .slice(1);
}

/** Throws at its nth call of any method that prunes. */
function failingAt(nth: () => number): NonNullable<CoreDoubles['store']> {
  let calls = 0;
  const names: readonly (keyof Store)[] = [
    'listFinalTo',
    'pruneMessages',
    'pruneInbox',
    'eraseSuppressed',
    'countMessagesTo',
    'pruneLeftovers',
    'listPrunedAnswers',
    'replaceAnswers',
  ];
  return (store) =>
    new Proxy(store, {
      get(target, name: keyof Store) {
        const method = target[name] as (...given: unknown[]) => Promise<unknown>;
        if (!names.includes(name)) return method;
        return async (...given: unknown[]) => {
          calls += 1;
          if (calls === nth()) throw new Error('cut short');
          return method.apply(target, given);
        };
      },
    });
}

describe('one person', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    'is erased after a call that was cut short at step %i',
    async (step) => {
      await open(undefined, { store: failingAt(() => step) });
      await core.administration.settings.update({ caps: { per_24_hours: 3 } });
      await send('99112233', 'one', 'key-1');
      await send('99112233', 'two', 'key-2');
      await sendBulk(['99112233', '99112234'], 'three');
      await core.administration.idle();
      await core.store.suppress(caller.projectId, '99112233', 'unknown_recipient');
      await core.store.keepIncoming({
        ...{ id: core.context.newId(), projectId: caller.projectId, channel: 'sms', subject: null },
        ...{ from: '99112233', to: '139911', text: 'stop', fingerprint: null, part: null },
      });
      expect(await tracesOf('99112233')).not.toEqual([]);

      await expect(core.administration.prune({ to: '99112233' })).rejects.toThrow('cut short');
      await core.administration.prune({ to: '99112233' });
      expect(await tracesOf('99112233')).toEqual([]);
      expect(await recipients()).toEqual(['99112234']);
      await expect(send('99112233', 'four')).rejects.toMatchObject({ code: 'recipient_suppressed' });
      expect(await core.administration.suppressions.remove('99112233')).toBe(true);
      await expect(send('99112233', 'four')).rejects.toMatchObject({ code: 'recipient_rate_limited' });
      expect(await replayOf(core, 'key-1')).toMatchObject({ replayed: true, body: { to: '' } });
    },
  );

  it.each([
    ['99112233', '99112233'],
    ['+8613912345678', '8613912345678'],
    ['+8613912345678', '+8613912345678'],
    ['8613912345678', '+8613912345678'],
    ['+8613912345678', '008613912345678'],
    ['008613912345678', '8613912345678'],
    ['Bold@example.com', 'Bold@example.com'],
  ])('as %s is erased who only wrote, as %s', async (to, from) => {
    await open();
    const incoming = { projectId: caller.projectId, channel: 'sms', subject: null, to: '139911' } as const;
    for (const one of [from, '88112233'])
      await core.store.keepIncoming({
        ...incoming,
        ...{ id: core.context.newId(), from: one, text: 'stop', fingerprint: null, part: null },
      });
    expect(await core.administration.prune({ to })).toMatchObject({ messages: 0, incoming: 1 });
    expect((await core.administration.inbox()).data).toHaveLength(1);
  });
});

describe('the schedule', () => {
  let ended = 0;
  /** Lets the next look pass; gives how many runs have ended since. */
  async function look(): Promise<number> {
    const before = ended;
    clock.advance(60 * minute);
    await ticks(60);
    return ended - before;
  }
  const counting: NonNullable<CoreDoubles['store']> = (store) =>
    new Proxy(store, {
      get(target, name: keyof Store) {
        if (name !== 'endPruneRun') return target[name];
        return async () => {
          await target.endPruneRun();
          ended += 1;
        };
      },
    });

  it('erases once a day what is older than the days of its project, by one instance', async () => {
    const directory = await open(undefined, { store: counting });
    const second = await cores.open({ directory, clock }, { store: counting });
    const kept = await core.administration.createProject('kept');
    await core.administration.settings.update({ retention_days: 30 });
    await send('99112233', 'old', 'key-1');
    await core.operations.sendSms({
      caller: { ...caller, projectId: kept.id },
      params: { to: '99112235', text: 'kept' },
      idempotencyKey: null,
    });
    clock.set(start + 30 * day);
    await send('99112234', 'young');
    for (const one of [core, second]) one.retention.begin();

    expect(await look()).toBe(1);
    expect(await recipients()).toEqual(['99112235', '99112234']);
    expect(await replayOf(core, 'key-1')).toMatchObject({ body: { to: '' } });
    for (let hour = 0; hour < 23; hour += 1) expect(await look()).toBe(0);
    expect(await look()).toBe(1);
    clock.set(start + 61 * day);
    expect(await look()).toBe(1);
    expect(await recipients()).toEqual(['99112235']);
  });

  it('waits while the service is held, and does nothing to a project without days', async () => {
    await open(undefined, { store: counting });
    await core.administration.settings.update({ retention_days: 2 });
    await send('99112233', 'old');
    clock.set(start + 9 * day);
    await core.store.hold('restored');
    core.retention.begin();
    expect(await look()).toBe(0);
    await core.administration.release('failed');
    await core.administration.settings.update({ retention_days: null });
    expect(await look()).toBe(1);
    expect(await recipients()).toEqual(['99112233']);
  });

  it('erases a day after a run that finds the clock far ahead, and says so', async () => {
    await open(undefined, { store: counting });
    await core.administration.settings.update({ retention_days: 30 });
    await send('99112233', 'young');
    core.retention.begin();
    expect(await look()).toBe(1);
    const right = clock.now();
    clock.set(right + 400 * day);
    expect(await look()).toBe(1);
    expect(await recipients()).toEqual(['99112233']);
    expect(cores.faults).toEqual([
      expect.objectContaining({ level: 'warning', stack: expect.stringContaining('400 days ago') }),
    ]);
    clock.set(right);
    expect(await look()).toBe(1);
    expect(await recipients()).toEqual(['99112233']);
    clock.set(right + 400 * day);
    expect(await look()).toBe(1);
    for (let hour = 0; hour < 23; hour += 1) expect(await look()).toBe(0);
    expect(await look()).toBe(1);
    expect(await recipients()).toEqual([]);
  });

  it('goes on where a service has closed or died in the middle', async () => {
    let dies = true;
    await open(undefined, {
      store: (store) =>
        counting({
          ...store,
          async replaceAnswers(answers) {
            if (dies) throw new Error('cut short');
            return store.replaceAnswers(answers);
          },
        }),
    });
    await core.administration.settings.update({ retention_days: 2 });
    await send('99112233', 'old', 'key-1');
    clock.set(start + 9 * day);
    core.retention.begin();
    expect(await look()).toBe(0);
    expect(cores.faults).toEqual([expect.objectContaining({ level: 'warning' })]);
    dies = false;
    clock.advance(minute);
    expect(await look()).toBe(1);
    expect(await replayOf(core, 'key-1')).toMatchObject({ body: { to: '' } });
  });

  it('begins when the service listens', async () => {
    clock = new ManualClock(start);
    const service = await createService({ clock, settings: { retention_days: 2 } });
    onTestFinished(() => service.close());
    await service.fetch('http://embedded.invalid/v1/sms', {
      method: 'POST',
      headers: { authorization: `Bearer ${service.localKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to: '99112233', text: 'old' }),
    });
    clock.set(start + 9 * day);
    const left = async () => {
      clock.advance(minute);
      await ticks(60);
      return outboxOf(service);
    };
    expect(await left()).toHaveLength(1);
    await service.listen({ port: 0 });
    expect(await left()).toEqual([]);
  });
});
