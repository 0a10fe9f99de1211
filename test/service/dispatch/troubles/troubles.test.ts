import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  Carrier,
  Deferral,
  Submission,
  SubmitResult,
} from '../../../../src/service/carriers/carrier.js';
import { ManualClock } from '../../../../src/service/clock.js';
import type { Core } from '../../../../src/service/core.js';
import { Cores, caller, ledgerDifference, outboxOf, pass } from '../../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

let core: Core;
let clock: ManualClock;
let start: number;
let submissions: { to: string; at: number; route: string }[];
let answer: (submission: Submission) => SubmitResult | null;
/** Halvings of the rate. */
let lowered: number[];
/** Projects by their names. */
let projects: Record<'A' | 'B' | 'C', string>;

const put = (scope: Deferral['scope'], code = '0x08', more: Partial<Deferral> = {}): Deferral => ({
  kind: 'later',
  reason: `its operator answered with status ${code}`,
  scope,
  code,
  ...more,
});
const seconds = () => (clock.now() - start) / 1_000;
const times = (to: string) => submissions.filter((one) => one.to === to).map(({ at }) => at);
const numbers = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${99_000_100 + from + index}`);
const of = (project: keyof typeof projects) => ({ ...caller, projectId: projects[project] });
const batch = (project: keyof typeof projects, to: readonly string[]) =>
  core.operations.sendSmsBulk({
    caller: of(project),
    params: { to: [...to], text: 'Hi' },
    idempotencyKey: null,
  });
const single = (project: keyof typeof projects, to: string) =>
  core.operations.sendSms({ caller: of(project), params: { to, text: 'Hi' }, idempotencyKey: null });
const warnings = () =>
  cores.faults
    .filter(({ code }) => code === 'LaneWarning')
    .map(({ stack }) => stack.replace('LaneWarning: ', ''));
/** Of them, those that were taken. */
const taken = async (to: readonly string[]) =>
  (await outboxOf(core)).filter((delivery) => to.includes(delivery.to)).length;
const troubles = () =>
  core.heartbeat.connections
    .flatMap(({ lane, troubles = [] }) => troubles.map((one) => ({ lane, ...one })))
    .map(({ forMs: _, ...one }) => one);

/** A carrier that answers 20 ms after a submission, with room for 20 at once. */
async function open(changes: Partial<Carrier> = {}): Promise<void> {
  core = await cores.open(
    { clock, rates: 'off' },
    {
      carrier: (carrier): Carrier => ({
        ...carrier,
        capacity: () => 100,
        async submit(submission, signal) {
          const { to, route } = submission;
          submissions.push({ to, route, at: seconds() });
          await new Promise<void>((resolve) => {
            clock.after(20, resolve);
          });
          return answer(submission) ?? carrier.submit(submission, signal);
        },
        async lowerRate(_, answeredMs) {
          lowered.push(answeredMs);
        },
        ...changes,
      }),
    },
  );
  const B = await core.administration.createProject('B');
  const C = await core.administration.createProject('C');
  projects = { A: caller.projectId, B: B.id, C: C.id };
}

beforeEach(async () => {
  clock = new ManualClock(Date.UTC(2026, 5, 1));
  start = clock.now();
  submissions = [];
  lowered = [];
  answer = () => null;
  await open();
});

describe('one number', () => {
  const poison = '99999999';
  const others = numbers(0, 60);

  it.each([
    ['throttled', put('rate', '0x14'), [0, 1, 3, 7, 15, 31, 63, 123, 183]],
    ['put off', put('message', '0x08'), [0, 5, 35, 155]],
    ['refused for the account', put('account', '0x0e'), [0, 5, 35, 155]],
  ] as const)(
    'that is %s for ever holds up nobody, and is tried by its own schedule',
    async (_, later, tries) => {
      answer = ({ to }) => (to === poison ? later : null);
      await batch('A', [poison, ...others]);
      await batch('B', numbers(100, 5));
      const sent = single('C', '99112233');
      await pass(clock, 2_000, 20);
      expect(await sent).toMatchObject({ status: 200 });
      expect((await outboxOf(core)).length).toBe(66);
      await pass(clock, 198_000, 250);
      const late = times(poison).map((at, index) => at - (tries[index] ?? Number.NaN));
      expect([late.length, Math.max(...late) < 2]).toEqual([tries.length, true]);
      expect(lowered).toEqual([]);
      // The last word about the account is that answer.
      const state = { lane: 'sms', project: null, state: 'backing_off', code: '0x0e', words: '' };
      expect(troubles()).toEqual(later.scope === 'account' ? [state] : []);
    },
  );

  it('that two projects send to is throttled for itself', async () => {
    answer = ({ to }) => (to === poison ? put('rate', '0x14') : null);
    await batch('A', [poison]);
    await batch('B', [poison]);
    await pass(clock, 30_000, 100);
    expect(times(poison).length).toBeGreaterThan(8);
    expect(lowered).toEqual([]);
  });

  it('is tried for a day, and fails and is refunded then', async () => {
    answer = () => put('rate', '0x14');
    await batch('A', [poison]);
    await pass(clock, 25 * 3_600_000, 20_000);
    expect(times(poison).length).toBeGreaterThan(800);
    const { data } = await core.operations.listMessages(of('A'), {}, { limit: 1, after: null });
    expect(data).toMatchObject([
      { status: 'failed', credits: 0, error: { message: expect.stringMatching(/throttled.*0x14/) } },
    ]);
    expect(await ledgerDifference(core)).toBe(0);
  });
});

describe('one project', () => {
  const bad = numbers(0, 300);
  const isBad = ({ to }: { to: string }) => bad.includes(to);

  it.each<[string, Deferral]>([
    ['put off', put('message', '450 4.7.1', { words: 'Sender bat@shop.mn rejected 99112233' })],
    ['refused for the account', put('account', '421 4.7.0')],
  ])('whose messages are all %s is slowed to one a second, and nobody else', async (_, later) => {
    answer = (submission) => (isBad(submission) ? later : null);
    await batch('A', bad);
    await batch('B', numbers(1_000, 100));
    await pass(clock, 2_000, 20);
    expect(await taken(numbers(1_000, 100))).toBe(100);
    await pass(clock, 10_000, 50);
    const before = submissions.filter(isBad).length;
    const sent = [];
    for (let second = 0; second < 20; second += 1) {
      await batch('B', numbers(2_000 + second * 10, 10));
      sent.push(single('C', `9911${1_000 + second}`));
      await pass(clock, 1_000, 50);
    }
    await pass(clock, 1_000, 50);
    expect(await taken(numbers(2_000, 200))).toBe(200);
    for (const one of await Promise.all(sent)) expect(one).toMatchObject({ status: 200 });
    expect(submissions.filter(isBad).length - before).toBeGreaterThan(15);
    expect(submissions.filter(isBad).length - before).toBeLessThan(26);
    expect(troubles()).toEqual([
      {
        lane: 'sms',
        project: projects.A,
        state: 'suspected',
        code: later.code,
        words: later.words === undefined ? '' : 'Sender … rejected …',
      },
    ]);
    expect(warnings()).toContainEqual(
      expect.stringMatching(/^lane sms, project \S+: nothing accepted by its carrier: 4[25][10]/),
    );
    // One that is accepted ends it.
    answer = () => null;
    await pass(clock, 62_000, 50);
    expect(troubles()).toEqual([]);
    expect(warnings().at(-1)).toMatch(/ended: nothing accepted by its carrier$/);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('whose messages are throttled while others are not has its share lowered, and the lane keeps its rate', async () => {
    answer = (submission) => (isBad(submission) ? put('rate', '0x58') : null);
    await batch('A', bad);
    for (let second = 0; second < 20; second += 1) {
      await batch('B', numbers(1_000 + second * 20, 20));
      await pass(clock, 1_000, 20);
    }
    await pass(clock, 1_000, 20);
    expect(await taken(numbers(1_000, 400))).toBe(400);
    expect(troubles()).toContainEqual({
      lane: 'sms',
      project: projects.A,
      state: 'throttled',
      code: '0x58',
      words: '',
    });
    expect(lowered.length).toBeLessThan(6);
    // An operator that answers at once would else end its rate before others come.
    expect(Math.min(...lowered)).toBeGreaterThanOrEqual(250);
    answer = () => null;
    await pass(clock, 70_000, 100);
    expect(await taken(bad)).toBe(300);
    expect(troubles()).toEqual([]);
  });

  it('alone on its lane whose messages are throttled has its share lowered, and a newcomer the rate of the lane', async () => {
    answer = (submission) => (isBad(submission) ? put('rate', '0x58') : null);
    await batch('A', bad);
    await pass(clock, 10_000, 50);
    const before = submissions.length;
    await pass(clock, 10_000, 50);
    // One a second, and none less.
    expect(submissions.length - before).toBeGreaterThan(5);
    expect(submissions.length - before).toBeLessThan(30);
    await batch('B', numbers(1_000, 20));
    await pass(clock, 500, 20);
    expect([await taken(numbers(1_000, 20)), lowered]).toEqual([20, []]);
    expect(troubles().map(({ project, state }) => [project, state])).toEqual([[projects.A, 'throttled']]);
  });

  it('of six whose messages are throttled is the one that is slowed down and named', async () => {
    const { administration } = core;
    const ids = [projects.B, projects.C];
    for (const name of ['D', 'E', 'F']) ids.push((await administration.createProject(name)).id);
    answer = (submission) => (isBad(submission) ? put('rate', '0x58') : null);
    await batch('A', bad);
    for (let second = 0; second < 10; second += 1) {
      for (const [index, projectId] of ids.entries())
        await core.operations.sendSmsBulk({
          caller: { ...caller, projectId },
          params: { to: numbers(1_000 * (index + 1) + second * 20, 20), text: 'Hi' },
          idempotencyKey: null,
        });
      await pass(clock, 1_000, 50);
    }
    await pass(clock, 1_000, 50);
    expect((await outboxOf(core)).length).toBe(1_000);
    expect(troubles().map(({ project, state }) => [project, state])).toEqual([[projects.A, 'throttled']]);
    expect(submissions.filter(isBad).length).toBeLessThan(120);
    // One may be under way.
    await pass(clock, 50, 50);
  });

  it('whose messages are throttled one after the other is one project, and the lane keeps its rate', async () => {
    answer = (submission) => (isBad(submission) ? put('rate', '0x58') : null);
    for (let at = 0; at < 20; at += 1) {
      await batch('B', numbers(1_000 + at, 1));
      await batch('A', bad.slice(at, at + 1));
      // Each is answered, and none is under way, before the next one comes.
      await pass(clock, 100, 20);
    }
    expect([await taken(numbers(1_000, 20)), lowered]).toEqual([20, []]);
  });

  it('whose messages are throttled, beside one number of another that always is, leaves the lane its rate', async () => {
    const poison = '99999999';
    answer = (submission) => {
      if (submission.to === poison) return put('rate', '0x14');
      return isBad(submission) ? put('rate', '0x58') : null;
    };
    await batch('A', bad);
    for (let second = 0; second < 30; second += 2) {
      await batch('B', [poison, ...numbers(3_000 + second * 10, 5)]);
      await batch('C', numbers(1_000 + second * 30, 60));
      await pass(clock, 2_000, 20);
    }
    expect(await taken(numbers(1_000, 900))).toBe(900);
    expect(lowered).toEqual([]);
  });
});

describe('who has nothing left in the lane', () => {
  const stop = async (given: ReturnType<typeof batch>) =>
    core.administration.stopBatch(((await given).body as { id: string }).id);

  it('is no longer in trouble, nor is the lane', async () => {
    answer = () => put('message', '0x08');
    const ofA = batch('A', numbers(0, 50));
    const ofB = batch('B', numbers(1_000, 50));
    await pass(clock, 20_000, 100);
    expect(troubles().map(({ project }) => project)).toEqual([null, projects.A, projects.B]);
    await stop(ofA);
    await pass(clock, 11_000, 100);
    expect(troubles().map(({ project }) => project)).toEqual([null, projects.B]);
    await stop(ofB);
    await pass(clock, 11_000, 100);
    expect(troubles()).toEqual([]);
    expect(warnings().filter((line) => line.includes('ended'))).toEqual([
      `lane sms, project ${projects.A}: ended: nothing accepted by its carrier`,
      `lane sms, project ${projects.B}: ended: nothing accepted by its carrier`,
      'lane sms: ended: nothing accepted by its carrier',
    ]);
  });

  it('is still in trouble while what was put off waits for its next try', async () => {
    answer = () => put('message', '0x08');
    await batch('A', numbers(0, 6));
    await pass(clock, 100_000, 250);
    expect(troubles().map(({ project }) => project)).toEqual([null, projects.A]);
  });

  it('ends a pause for the account that it alone was answered about', async () => {
    answer = () => put('account', '0x0e');
    const sent = single('A', '99112233');
    await pass(clock, 16_000, 100);
    expect(await sent).toMatchObject({ status: 502 });
    expect(troubles()).toMatchObject([{ project: null, state: 'backing_off' }]);
    await pass(clock, 11_000, 100);
    expect(troubles()).toEqual([]);
  });
});

describe('everybody', () => {
  it('throttled lowers the rate of the lane, once in the time of an answer', async () => {
    answer = () => put('rate', '0x58');
    await batch('A', numbers(0, 30));
    await batch('B', numbers(100, 30));
    await pass(clock, 1_250, 20);
    expect(lowered.length).toBeGreaterThan(1);
    expect(lowered.length).toBeLessThan(6);
    // An operator that answers at once would else end its rate before others come.
    expect(Math.min(...lowered)).toBeGreaterThanOrEqual(250);
    expect(troubles()[0]).toMatchObject({ project: null, state: 'throttled', code: '0x58' });
    expect(warnings()).toContain('lane sms: throttled by its carrier: 0x58');
  });

  it('throttled lowers the rate of the lane, though each of many sends little in a second', async () => {
    answer = () => put('rate', '0x58');
    const ids = [projects.A, projects.B, projects.C];
    for (const name of ['D', 'E', 'F']) ids.push((await core.administration.createProject(name)).id);
    for (const [index, projectId] of ids.entries())
      await core.operations.sendSmsBulk({
        caller: { ...caller, projectId },
        params: { to: numbers(index, 1), text: 'Hi' },
        idempotencyKey: null,
      });
    await pass(clock, 1_000, 20);
    expect(lowered.length).toBeGreaterThan(0);
  });

  it('put off pauses the lane, which is tried with one message at a time, each another one', async () => {
    answer = () => put('message', '0x08');
    await batch('A', numbers(0, 100));
    await batch('B', numbers(1_000, 100));
    await pass(clock, 1_000, 20);
    const before = submissions.length;
    expect(before).toBeLessThan(201);
    await pass(clock, 120_000, 100);
    const tried = submissions.slice(before);
    expect(tried.length).toBeLessThan(15);
    expect(tried.every(({ to }, index) => to !== tried[index - 1]?.to)).toBe(true);
    expect(troubles()).toContainEqual({
      lane: 'sms',
      project: null,
      state: 'suspected',
      code: '0x08',
      words: '',
    });
    // A project that sends now is tried at once.
    const late = batch('C', numbers(2_000, 1));
    await late;
    await pass(clock, 200, 20);
    expect(times(numbers(2_000, 1)[0] as string)).toHaveLength(1);
    // One that is accepted opens the lane: all go out but for what waits for its own next try.
    answer = () => null;
    await pass(clock, 61_000, 100);
    expect(troubles()).toEqual([]);
    await pass(clock, 400_000, 1_000);
    expect((await outboxOf(core)).length).toBe(201);
  });

  it('refused for the account pauses the lane; a single SMS is tried at once, and then gets its 502', async () => {
    answer = () => put('account', '0x0e');
    await batch('A', numbers(0, 50));
    await pass(clock, 60_000, 100);
    expect(submissions.length).toBeLessThan(60);
    const sent = single('B', '99112233');
    await pass(clock, 1_000, 20);
    expect(times('99112233')).toHaveLength(1);
    await pass(clock, 14_500, 100);
    expect(await sent).toMatchObject({
      status: 502,
      body: { error: { message: expect.stringContaining('0x0e') } },
    });
    expect(troubles()).toContainEqual(
      expect.objectContaining({ project: null, state: 'backing_off', code: '0x0e' }),
    );
    answer = () => null;
    const next = single('C', '99112244');
    await pass(clock, 100, 20);
    expect(await next).toMatchObject({ status: 200 });
    expect(troubles().filter(({ project }) => project === null)).toEqual([]);
    // What is under way ends with the time.
    await pass(clock, 5_000, 100);
  });

  it('refused for the account is shown with that answer, and under suspicion with the one about messages', async () => {
    const ofB = numbers(1_000, 30);
    answer = ({ to }) => (ofB.includes(to) ? put('message', '0x08') : put('account', '0x0e'));
    await batch('A', numbers(0, 30));
    await batch('B', ofB);
    const shown = new Set<string>();
    for (let second = 0; second < 60; second += 1) {
      await pass(clock, 1_000, 100);
      for (const { project, state, code } of troubles()) if (project === null) shown.add(`${state} ${code}`);
    }
    expect(ofB.some((to) => times(to).length > 0)).toBe(true);
    expect([...shown].sort()).toEqual(['backing_off 0x0e', 'suspected 0x08']);
    // What is under way ends with the time.
    await pass(clock, 5_000, 100);
  });

  it('answered once about the account is not held up by a sender whose messages are all put off', async () => {
    const [first, ...ofB] = numbers(1_000, 31) as [string, ...string[]];
    answer = ({ to }) => {
      if (to === first && times(first).length === 1) return put('account', '0x0e');
      return to === first || ofB.includes(to) ? null : put('message', '0x08');
    };
    await batch('A', numbers(0, 500));
    await pass(clock, 10_000, 100);
    await batch('B', [first]);
    await pass(clock, 3_000, 100);
    await batch('B', ofB);
    await pass(clock, 2_000, 50);
    expect([times(first).length, await taken(ofB)]).toEqual([1, 30]);
    await pass(clock, 6_000, 100);
    expect(await taken([first])).toBe(1);
  });

  it('answered about each recipient is never suspected', async () => {
    answer = () => put('message', '450 4.7.1', { isOfRecipient: true });
    await batch('A', numbers(0, 50));
    await pass(clock, 4_000, 100);
    expect([submissions.length, troubles()]).toEqual([50, []]);
  });
});
