import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OtherJobs } from '../../../../src/cli/bulk/job/other-jobs.js';
import { messageHash, PairSet } from '../../../../src/cli/bulk/plan/pair-set.js';
import type { FrozenPlan } from '../../../../src/cli/bulk/plan/plan.js';
import { testFolder } from '../../../support/folders.js';
import { checksummed, type Encoded } from '../journal-lines.js';
import { numbers } from '../memory-plan.js';
import { planIn, planned } from '../plan-in.js';

const baseUrl = 'http://127.0.0.1:7788/v1';
const day = 86_400_000;
const now = Date.parse('2025-01-10T00:00:00Z');

const send = (request: number, recipients = 1): Encoded => ['send', request, 0, recipients];
const accepted = (request: number, kind: 'single' | 'batch' = 'single', at = now): Encoded => [
  'accepted',
  request,
  0,
  `id-${request}`,
  10,
  kind,
  null,
  at,
];

const old = now - 8 * day;
const ended = (exit: number): Encoded => ['end', new Date(old).toISOString(), exit, null];
const none = { sent: 0, open: {}, uncertain: {} };

/**
 * The jobs of a machine, and a new list with three recipients who each get their own message, or all one; `asOne`: an
 * earlier version read the first row as all three.
 */
function machine({ text = 'Hello {name}', asOne = false } = {}) {
  const home = testFolder();
  const folderOf = (id: string) => join(home, 'jobs', id);
  const pairs = new PairSet();
  for (const [at, to] of numbers(3).entries()) {
    const hash = messageHash(`"text":"${text.replace('{name}', String(at))}"}`);
    if (asOne && at > 0) pairs.addReading(0, to, hash);
    else pairs.add(to, hash);
  }
  const read: string[] = [];
  const unreadable: string[] = [];
  const failed = new Map<number, number[]>();
  const others = new OtherJobs({
    stateDirectory: home,
    channel: 'sms',
    baseUrl,
    isOther: (id) => id !== 'own',
    since: now - 7 * day,
    openOutcomes: async () => ({
      async read(onBatch) {
        for (const [request, indexes] of failed)
          onBatch(
            request,
            `id-${request}`,
            indexes.map((index) => ({ index, status: 'failed' })),
          );
      },
      close: async () => {},
    }),
    onUnreadable: (id) => unreadable.push(id),
  });
  return {
    pairs,
    others,
    read,
    unreadable,
    failed,
    folderOf,
    /** Makes a job of the three recipients. */
    async plan(id: string, options: Parameters<typeof planIn>[2] = {}): Promise<FrozenPlan> {
      const list = `phone,name\n${numbers(3)
        .map((each, at) => `${each},${at}\n`)
        .join('')}`;
      const createdAt = new Date(now - day).toISOString();
      return planned(await planIn(folderOf(id), list, { text, createdAt, ...options }));
    },
    journal(id: string, ...entries: Encoded[]) {
      writeFileSync(join(folderOf(id), 'journal'), entries.map((entry) => checksummed([entry])).join(''));
    },
    /** What each recipient counts as, and which jobs were read for it. */
    async mark() {
      read.length = 0;
      await others.mark(pairs, undefined, async ({ folder }) => {
        read.push(basename(folder));
      });
      const { sent, open, uncertain } = pairs.counts();
      return { sent, open: Object.fromEntries(open), uncertain: Object.fromEntries(uncertain) };
    },
  };
}

describe('what another job does for a recipient', () => {
  it('counts as sent if one of its messages that are one message now was sent, and another failed', async () => {
    const here = machine({ asOne: true });
    await here.plan('july');
    const failed = (request: number): Encoded[] => [
      send(request),
      ['failed', request, 0, 'provider_failed', 'm'],
    ];
    here.journal('july', ...failed(0), send(1), accepted(1), ...failed(2), ended(3));
    expect(await here.mark()).toEqual({ ...none, sent: 1 });
  });

  it.each<[string, Encoded[], { sent: number; open?: number }]>([
    ['no journal', [], { sent: 0, open: 3 }],
    ['pending and in doubt', [send(0)], { sent: 0, open: 3 }],
    ['accepted', [send(0), accepted(0), send(1), accepted(1)], { sent: 2, open: 1 }],
    ['refused for good', [send(0), ['rejected', 0, 0, 'invalid_request']], { sent: 0, open: 2 }],
    ['failed', [send(0), ['failed', 0, 0, 'provider_failed', 'm']], { sent: 0, open: 2 }],
    [
      'failed, retried and in doubt',
      [send(0), ['failed', 0, 0, 'x', 'm'], ['revised', 0, 0], ['send', 0, 1, 1]],
      { sent: 0, open: 3 },
    ],
    ['an alarm counts as sent', [send(0), ['alarm', 0, 0, 'one id for two']], { sent: 1, open: 2 }],
    ['sent 7 days ago', [send(0), accepted(0, 'single', now - 7 * day - 1)], { sent: 0, open: 2 }],
    ['sent less than 7 days ago', [send(0), accepted(0, 'single', now - 7 * day)], { sent: 1, open: 2 }],
  ])('%s', async (_, entries, { sent, open = 0 }) => {
    const here = machine();
    await here.plan('july');
    if (entries.length > 0) here.journal('july', ...entries);
    expect(await here.mark()).toEqual({ sent, open: open > 0 ? { july: open } : {}, uncertain: {} });
  });

  it.each<[string, Encoded[], number[] | null, { sent: number; uncertain: object }]>([
    ['accepted in a batch', [], null, { sent: 3, uncertain: {} }],
    [
      'failed in a batch, who it was is stored',
      [['final', 0, 2, 1, null, null]],
      [1],
      { sent: 2, uncertain: {} },
    ],
    [
      'failed in a batch, unknown who',
      [['final', 0, 2, 1, null, null]],
      null,
      { sent: 3, uncertain: { july: 3 } },
    ],
    ['all failed in a batch', [['final', 0, 0, 3, null, null]], null, { sent: 0, uncertain: {} }],
    ['not in the batch', [['absent', 0, 0, [0, 2]]], null, { sent: 1, uncertain: {} }],
  ])('%s', async (_, entries, failed, expected) => {
    const here = machine({ text: 'Hello' });
    await here.plan('july');
    here.journal('july', send(0, 3), accepted(0, 'batch'), ...entries);
    if (failed !== null) here.failed.set(0, failed);
    expect(await here.mark()).toEqual({ open: {}, ...expected });
  });

  it.each<[string, Parameters<typeof planIn>[2]]>([
    ['another text', { text: 'Bye {name}' }],
    ['another service', { baseUrl: 'http://127.0.0.1:9/v1' }],
  ])('is nothing: %s', async (_, options) => {
    const here = machine();
    await here.plan('july', options);
    here.journal('july', send(0), accepted(0), ended(0));
    expect(await here.mark()).toEqual({ sent: 0, open: {}, uncertain: {} });
  });

  it.each<[string, Encoded[], Awaited<ReturnType<ReturnType<typeof machine>['mark']>>]>([
    [
      'nothing of what was sent',
      [0, 1, 2].flatMap((each) => [send(each), accepted(each, 'single', old)]),
      none,
    ],
    ['what would still be sent', [send(0), accepted(0, 'single', old)], { ...none, open: { july: 2 } }],
  ])('is, after seven days: %s', async (_, entries, expected) => {
    for (const exit of [0, 5, null]) {
      const here = machine();
      await here.plan('july', { createdAt: new Date(old).toISOString() });
      here.journal('july', ...entries, ...(exit === null ? [] : [ended(exit)]));
      utimesSync(join(here.folderOf('july'), 'journal'), old / 1000, old / 1000);
      // A run that has sent everything ends with 0.
      if (exit !== 0 || expected === none) expect(await here.mark()).toEqual(expected);
    }
  });
});

describe('other jobs', () => {
  it('are read once, and again after they have changed', async () => {
    const here = machine();
    for (const id of ['july', 'august', 'own']) await here.plan(id);
    here.journal('july', send(0), accepted(0), send(1), accepted(1), send(2), accepted(2));
    expect(await here.mark()).toMatchObject({ sent: 0, open: { august: 2 + 1 } });
    expect(here.read.sort()).toEqual(['august', 'july']);
    await here.mark();
    expect(here.read).toEqual([]);
    here.journal('august', send(0), ['rejected', 0, 0, 'x'], send(1), accepted(1), send(2), accepted(2));
    expect(await here.mark()).toEqual({ sent: 3, open: {}, uncertain: {} });
    expect(here.read).toEqual(['august']);
  });

  it('are not read again if they have another message, whatever they do', async () => {
    const here = machine();
    await here.plan('july', { text: 'Bye {name}' });
    await here.mark();
    here.journal('july', send(0), accepted(0));
    expect([await here.mark(), here.read]).toEqual([{ sent: 0, open: {}, uncertain: {} }, []]);
    rmSync(here.folderOf('july'), { recursive: true });
    await here.plan('july');
    expect((await here.mark()).open).toEqual({ july: 3 });
  });

  it('leave a recipient to the one that will still send when another of them has ended', async () => {
    const here = machine();
    for (const id of ['july', 'august']) await here.plan(id);
    expect((await here.mark()).open).toEqual({ july: 3 });
    const rejected = [0, 1, 2].flatMap((each): Encoded[] => [send(each), ['rejected', each, 0, 'x']]);
    here.journal('july', ...rejected);
    expect((await here.mark()).open).toEqual({ august: 3 });
    rmSync(here.folderOf('august'), { recursive: true });
    expect(await here.mark()).toEqual({ sent: 0, open: {}, uncertain: {} });
  });

  it('count what one has sent when another, which would have sent it too, has ended without', async () => {
    const here = machine();
    for (const id of ['july', 'august']) await here.plan(id);
    here.journal('august', send(0), accepted(0), send(1), accepted(1), send(2), accepted(2));
    expect((await here.mark()).open).toEqual({ july: 3 });
    here.journal('july', ...[0, 1, 2].flatMap((each): Encoded[] => [send(each), ['rejected', each, 0, 'x']]));
    expect(await here.mark()).toEqual({ sent: 3, open: {}, uncertain: {} });
  });

  it('are looked at again where one was removed and made anew under its name', async () => {
    const here = machine();
    await here.plan('july');
    here.journal('july', send(0), ['rejected', 0, 0, 'x']);
    expect((await here.mark()).open).toEqual({ july: 2 });
    rmSync(here.folderOf('july'), { recursive: true });
    await here.plan('july');
    here.journal('july', send(0), ['failed', 0, 0, 'x', 'm']);
    expect((await here.mark()).open).toEqual({ july: 2 });
    expect(here.read).toEqual(['july']);
  });

  it.each(['plan.json', 'bodies', 'journal'])('are named once if they cannot be read: %s', async (name) => {
    const here = machine();
    await here.plan('july');
    writeFileSync(join(here.folderOf('july'), name), 'x\n');
    for (let time = 0; time < 2; time += 1)
      expect(await here.mark()).toEqual({ sent: 0, open: {}, uncertain: {} });
    expect(here.unreadable).toEqual(['july']);
  });
});
