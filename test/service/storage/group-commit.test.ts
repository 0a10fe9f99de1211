import { expect, it, onTestFinished } from 'vitest';
import { GroupCommit } from '../../../src/service/storage/sqlite/database/group-commit.js';
import { openDatabase } from '../../../src/service/storage/sqlite/database/open.js';

const large = 1_000;

/** Commits that write down which writes were committed together. */
async function openCommits(groups: string[][] = []) {
  // Large work of other tests.
  for (let tick = 0; tick <= 8; tick += 1) await new Promise(setImmediate);
  const database = await openDatabase(':memory:', { synchronous: 'off', migrations: [] });
  onTestFinished(() => database.close());
  let group: string[] = [];
  const commits = new GroupCommit(database, {
    committed() {
      groups.push(group);
      group = [];
    },
  });
  return { groups, write: (name: string, rows: number) => commits.run(() => void group.push(name), rows) };
}

it('writes that arrive together share a commit', async () => {
  const { groups, write } = await openCommits();
  await Promise.all([write('a', 1), write('b', 1), write('c', 100)]);
  await Promise.all([write('A', 400), write('B', 600)]);
  expect(groups).toEqual([
    ['a', 'b', 'c'],
    ['A', 'B'],
  ]);
});

it.each([
  { what: 'one alone', perTick: [['a'], ['b']], expected: [['a'], ['b']] },
  { what: 'two, and nothing after', perTick: [['a', 'b'], [], ['c']], expected: [['a', 'b'], ['c']] },
  {
    what: 'one more in each of two ticks',
    perTick: [['a', 'b'], ['c'], [], ['d']],
    expected: [['a', 'b', 'c'], ['d']],
  },
  {
    what: 'more in each tick',
    perTick: [['a', 'b'], ['c'], ['d'], ['e'], ['f']],
    expected: [['a', 'b', 'c', 'd', 'e'], ['f']],
  },
])('a commit waits four ticks at most, while each brings more: $what', async ({ perTick, expected }) => {
  const { groups, write } = await openCommits();
  const all: Promise<unknown>[] = [];
  for (const names of perTick) {
    all.push(...names.map((name) => write(name, 1)));
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  expect(groups).toEqual(expected);
});

it('a small write waits for one large write at most, and for none between two of them', async () => {
  const { groups, write } = await openCommits();
  const batches = ['A', 'B', 'C'].map((name) => write(name, large));
  await Promise.all([write('a', 1), write('b', 1)]);
  expect(groups).toEqual([['A'], ['a', 'b']]);
  await write('c', 1);
  expect(groups.slice(2)).toEqual([['c']]);
  const singles = ['d', 'e'].map((name) => write(name, 1));
  await Promise.all([...batches, ...singles]);
  expect(groups.slice(3)).toEqual([['d', 'e'], ['B'], ['C']]);
});

it('large writes begin eight ticks of the event loop apart, those of other files too, and small ones do not hold them up', async () => {
  const { groups, write } = await openCommits();
  const other = await openCommits(groups);
  let isOver = false;
  const writeSmall = async () => {
    while (!isOver) await write('small', 1);
  };
  const singles = writeSmall();
  const of = ['A', 'B', 'C'].flatMap((name) => [write(name, large), other.write(`other ${name}`, large)]);
  await Promise.all(of);
  isOver = true;
  await singles;
  const begun = groups.map(([name]) => name);
  expect(begun.filter((name) => name !== 'small')).toEqual(['A', 'other A', 'B', 'other B', 'C', 'other C']);
  const at = begun.flatMap((name, index) => (name === 'small' ? [] : [index]));
  expect(at.slice(1).map((index, before) => index - (at[before] ?? 0))).toEqual([9, 9, 9, 9, 9]);
});

it('writes are never held up by those that came later', async () => {
  const { groups, write } = await openCommits();
  const all = Array.from({ length: 12 }, (_, index) => write(`${index}`, index % 3 === 0 ? large : 60));
  await Promise.all(all);
  const of = (isLarge: boolean) => groups.flat().filter((name) => (Number(name) % 3 === 0) === isLarge);
  expect(of(true)).toEqual(['0', '3', '6', '9']);
  expect(of(false)).toEqual(['1', '2', '4', '5', '7', '8', '10', '11']);
});
