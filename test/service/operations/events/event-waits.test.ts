import { describe, expect, it, vi } from 'vitest';
import { mostWaiting } from '../../../../src/contract/index.js';
import { ManualClock } from '../../../../src/service/clock.js';
import { EventWaits } from '../../../../src/service/operations/events/event-waits.js';
import type { LineState } from '../../../../src/service/storage/store.js';

const place = { line: 1, number: 5 };
const quiet = { ...place, hasNew: false };

/** Calls that wait behind a place, in a store whose lines are given. */
function open(lines: () => Promise<Omit<LineState, 'projectId'>[]> = async () => [quiet]) {
  const clock = new ManualClock(0);
  const eventLines = vi.fn(async (ids: readonly string[]) =>
    (await lines()).flatMap((state) => ids.map((projectId) => ({ ...state, projectId }))),
  );
  const waits = new EventWaits({ eventLines }, clock);
  const call = (projectId = 'p', milliseconds = 20_000) => {
    const state = { answer: null as boolean | null };
    void waits.run(projectId, milliseconds, async (wait) => {
      state.answer = await wait(place);
    });
    return state;
  };
  /** Lets time pass, and what is due then. */
  async function pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 50) {
      clock.advance(50);
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    }
  }
  return { waits, eventLines, call, pass };
}

describe('calls that wait for events', () => {
  it.each<[string, Omit<LineState, 'projectId'>[]]>([
    ['there is a new event', [{ ...quiet, hasNew: true }]],
    ['another reader has numbered one', [{ ...quiet, number: 6 }]],
    ['the project has another line', [{ ...quiet, line: 2 }]],
    ['the project has no line any more', []],
  ])('look again as soon as %s', async (_, lines) => {
    let current = [quiet];
    const { call, pass } = open(async () => current);
    const waiting = call();
    await pass(1_000);
    expect(waiting.answer).toBeNull();
    current = lines as never;
    await pass(300);
    expect(waiting.answer).toBe(true);
  });

  it('look again after they have waited, and when the store cannot be asked', async () => {
    let isBroken = false;
    const { call, pass, eventLines } = open(async () => {
      if (isBroken) throw new Error('no store');
      return [quiet];
    });
    const waiting = call('p', 2_000);
    await pass(1_950);
    expect(waiting.answer).toBeNull();
    await pass(100);
    expect(waiting.answer).toBe(true);
    isBroken = true;
    const other = call();
    await pass(300);
    expect(other.answer).toBe(true);
    eventLines.mockClear();
    await pass(5_000);
    expect(eventLines).not.toHaveBeenCalled();
  });

  it('are asked about no more once they have waited', async () => {
    const { call, pass, eventLines } = open();
    call('p', 2_000);
    await pass(2_300);
    eventLines.mockClear();
    await pass(5_000);
    expect(eventLines).not.toHaveBeenCalled();
  });

  it('are asked about together, by one look of the instance', async () => {
    const { call, pass, eventLines } = open();
    for (const id of ['p', 'p', 'q', 'r']) call(id);
    await pass(1_000);
    expect(eventLines.mock.calls).toEqual(Array(4).fill([['p', 'q', 'r']]));
  });

  it('are four of a project: others are answered at once', async () => {
    const { call, pass, waits } = open();
    const waiting = Array.from({ length: mostWaiting }, () => call());
    const more = call();
    const other = call('q');
    await pass(50);
    expect([more, other, ...waiting].map(({ answer }) => answer)).toEqual([false, ...Array(5).fill(null)]);
    await pass(21_000);
    const after = call();
    await pass(50);
    expect(after.answer).toBeNull();
    waits.close();
  });

  it('end, and leave their place to others, when their client has ended its side', async () => {
    const { waits, call, pass } = open();
    const ends: (() => void)[] = [];
    const answers: boolean[] = [];
    for (let each = 0; each < mostWaiting; each += 1)
      void waits.run(
        'p',
        20_000,
        async (wait) => answers.push(await wait(place)),
        (run) => {
          ends.push(run);
          return () => ends.splice(ends.indexOf(run), 1);
        },
      );
    await pass(100);
    ends[0]?.();
    await pass(50);
    const next = call();
    await pass(50);
    expect([answers, ends.length, next.answer]).toEqual([[false], mostWaiting - 1, null]);
    waits.close();
  });

  it('end when the instance is to end, and none waits from then on', async () => {
    const { call, pass, waits } = open();
    const waiting = call();
    await pass(100);
    waits.close();
    const later = call();
    await pass(50);
    expect([waiting.answer, later.answer]).toEqual([false, false]);
  });

  it('do not wait if they were not asked to', async () => {
    const { call, pass } = open();
    const waiting = call('p', 0);
    await pass(50);
    expect(waiting.answer).toBe(false);
  });
});
