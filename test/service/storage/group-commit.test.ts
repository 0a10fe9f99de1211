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
  await Promise.all([write('a', 1), write('b', 1), write('c', 900)]);
  expect(groups).toEqual([['a', 'b', 'c']]);
});

it('a small write goes before the large ones that wait, and holds none of them up for ever', async () => {
  const { groups, write } = await openCommits();
  const batches = ['A', 'B', 'C'].map((name) => write(name, large));
  await write('a', 1);
  expect(groups).toEqual([['a', 'A']]);
  await write('b', 1);
  expect(groups).toEqual([
    ['a', 'A'],
    ['b', 'B'],
  ]);
  await Promise.all(batches);
  expect(groups).toEqual([['a', 'A'], ['b', 'B'], ['C']]);
});
