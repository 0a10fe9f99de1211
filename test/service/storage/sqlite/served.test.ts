import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openAdministration } from '../../../../src/service/open-administration.js';
import { loadEngine } from '../../../../src/service/storage/sqlite/database/engine.js';
import { versionOf } from '../../../../src/service/storage/sqlite/database/open.js';
import { migrations } from '../../../../src/service/storage/sqlite/schema/schema.js';
import { Cores } from '../../../support/cores.js';
import { downgrade } from '../../../support/old-schema.js';

const { DatabaseSync } = await loadEngine();
const cores = new Cores();
afterEach(() => cores.closeAll());

const older = migrations.length - 1;
const schemaAt = (path: string) => {
  const database = new DatabaseSync(path);
  const version = versionOf(database);
  database.close();
  return version;
};

/** Data of an older version, with a heartbeat of so many seconds ago. */
async function oldData(
  steps: number,
  secondsAgo: number | null,
): Promise<{ directory: string; path: string }> {
  const directory = join(cores.folder(), 'data');
  await (await cores.open({ directory })).close();
  const path = join(directory, 'service.db');
  downgrade(path, migrations.slice(0, steps));
  if (secondsAgo === null) return { directory, path };
  const database = new DatabaseSync(path);
  database
    .prepare("INSERT INTO instances (id, version, carriers, queue, seen_at) VALUES ('a', '1', '[]', '{}', ?)")
    .run(Date.now() - secondsAgo * 1_000);
  database.close();
  return { directory, path };
}

it('an owner who looks on leaves the data of an older service that runs as it is', async () => {
  const { directory, path } = await oldData(older, 3);
  await expect(openAdministration({ directory })).rejects.toMatchObject({
    name: 'DataError',
    message: 'the data is in use by a service of an older version of urtuu',
    hint: expect.stringMatching(/^Nothing was changed\./),
  });
  expect(schemaAt(path)).toBe(older);
});

it.each([
  ['none ran', older, null],
  ['it has not been heard of for 16 s', older, 16],
  ['nobody had heartbeats yet', 3, null],
])('an owner brings it up to date where %s', async (_, steps, secondsAgo) => {
  const { directory, path } = await oldData(steps, secondsAgo);
  await (await openAdministration({ directory })).close();
  expect(schemaAt(path)).toBe(migrations.length);
});

it('a start of this version brings it up to date beside one that runs', async () => {
  const { directory, path } = await oldData(older, 3);
  await (await cores.open({ directory })).close();
  expect(schemaAt(path)).toBe(migrations.length);
});
