import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordTakenRows } from '../../../../../src/cli/commands/bulk/prepare/taken-rows.js';
import { testFolder } from '../../../../support/folders.js';

it('the record of rows to take is durable, name included, before the plan becomes a job', async () => {
  const folder = testFolder();
  const synced: string[][] = [];
  await recordTakenRows(folder, [['july', [[0, [1]]]]], async (path) => {
    synced.push(readdirSync(path));
  });
  expect(synced).toEqual([['taken']]);
  expect(readFileSync(join(folder, 'taken'), 'utf8')).toMatch(
    /^urtuu-taken 1 [0-9a-f]{64}\n\["july",\[\[0,\[1\]\]\]\]\n$/,
  );
});
