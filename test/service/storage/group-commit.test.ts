import { expect, it, onTestFinished } from 'vitest';
import { GroupCommit } from '../../../src/service/storage/sqlite/database/group-commit.js';
import { openDatabase } from '../../../src/service/storage/sqlite/database/open.js';

const large = 1_000;

/** Commits that write down which writes were committed together. */
async function openCommits() {
  const database = await openDatabase(':memory:', { synchronous: 'off', migrations: [] });
  onTestFinished(() => database.close());
  const groups: string[][] = [];
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

it('a small write waits for one large write at most, and a large one for one group of small ones', async () => {
  const { groups, write } = await openCommits();
  const batches = ['A', 'B', 'C'].map((name) => write(name, large));
  await Promise.all([write('a', 1), write('b', 1)]);
  expect(groups).toEqual([['a', 'b']]);
  await write('c', 1);
  expect(groups).toEqual([['a', 'b'], ['A'], ['c']]);
  const singles = ['d', 'e'].map((name) => write(name, 1));
  await Promise.all([...batches, ...singles]);
  expect(groups.slice(3)).toEqual([['B'], ['d', 'e'], ['C']]);
});

it('writes are never held up by those that came later', async () => {
  const { groups, write } = await openCommits();
  const all = Array.from({ length: 12 }, (_, index) => write(`${index}`, index % 3 === 0 ? large : 60));
  await Promise.all(all);
  const of = (isLarge: boolean) => groups.flat().filter((name) => (Number(name) % 3 === 0) === isLarge);
  expect(of(true)).toEqual(['0', '3', '6', '9']);
  expect(of(false)).toEqual(['1', '2', '4', '5', '7', '8', '10', '11']);
});
