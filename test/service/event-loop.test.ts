import { beforeEach, expect, it, vi } from 'vitest';
import { largeTurn } from '../../src/service/event-loop.js';

const ticksApart = 8;
const tick = () => new Promise(setImmediate);

beforeEach(async () => {
  // Large work of other tests.
  for (let passed = 0; passed <= ticksApart; passed += 1) await tick();
});

/** The turns that are given, with the ticks between them. */
function record() {
  const turns: { name: string; at: number }[] = [];
  let ticks = 0;
  const count = () => {
    ticks += 1;
    if (turns.at(-1)?.name !== 'end') setImmediate(count);
  };
  setImmediate(count);
  const take = async (name: string, of?: 'new') => {
    await largeTurn(of);
    turns.push({ name, at: ticks });
  };
  return { turns, take };
}

it('large work: one piece runs at a time, eight ticks of the event loop apart', async () => {
  const { turns, take } = record();
  await Promise.all([take('a'), take('b'), take('c').then(() => take('end', 'new'))]);
  expect(turns.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'end']);
  const apart = turns.slice(1).map(({ at }, before) => at - (turns[before]?.at ?? 0));
  expect(apart).toEqual([ticksApart, ticksApart, ticksApart]);
});

it('large work: what has begun goes first, but one turn in four begins more', async () => {
  const { turns, take } = record();
  const all = ['n1', 'n2', 'n3'].map((name) => take(name, 'new'));
  all.push(...['b1', 'b2', 'b3', 'b4', 'b5'].map((name) => take(name)));
  await Promise.all(all);
  await take('end');
  const names = turns.map(({ name }) => name);
  expect(names).toEqual(['b1', 'b2', 'b3', 'n1', 'b4', 'b5', 'n2', 'n3', 'end']);
});

it('large work: a turn that nobody uses holds up nobody', async () => {
  void largeTurn();
  await expect(largeTurn('new')).resolves.toBeUndefined();
});

it('large work: fake timers of a test do not hold it up, then or later', async () => {
  vi.useFakeTimers({ toFake: ['setImmediate'] });
  try {
    await largeTurn();
    void largeTurn();
  } finally {
    vi.useRealTimers();
  }
  await expect(largeTurn()).resolves.toBeUndefined();
});
