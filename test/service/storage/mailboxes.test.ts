import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { migrations } from '../../../src/service/storage/sqlite/schema/schema.js';
import { Cores } from '../../support/cores.js';
import { downgrade } from '../../support/old-schema.js';

const { DatabaseSync } = await loadEngine();
const cores = new Cores();
afterEach(() => cores.closeAll());

it('addresses of the release before are counted and suppressed in all their spellings', async () => {
  const directory = cores.folder();
  await (await cores.open({ directory })).close();
  const path = join(directory, 'service.db');
  downgrade(
    path,
    migrations.slice(
      0,
      migrations.findIndex((step) => step.includes('ADD COLUMN mailbox')),
    ),
  );
  const old = new DatabaseSync(path);
  const insert = old.prepare(
    `INSERT INTO messages (id, project, content, channel, recipient, status, credits, created_at, attempts)
     VALUES (?, 1, 1, ?, ?, 'sent', 2, 1, 0)`,
  );
  ['Bat+1@b.mn', 'bat@b.mn', 'BAT@b.mn', '+x@b.mn', '99112233'].forEach((to, index) => {
    insert.run(`m${index}`, to.includes('@') ? 'email' : 'sms', to);
  });
  const suppressed = {
    'BAT@b.mn': 'it bounced with status 5.1.1',
    'bat@b.mn': 'again',
    'C@b.mn': '550 no such user',
    'erased:Abc': 'pruned',
    99112233: 'asked by SMS for no more messages',
  };
  for (const [to, reason] of Object.entries(suppressed))
    old
      .prepare('INSERT INTO suppressions (project, recipient, reason, created_at) VALUES (1, ?, ?, 1)')
      .run(to, reason);
  old.close();

  const core = await cores.open({ directory });
  const { data } = await core.administration.suppressions.list();
  expect(Object.fromEntries(data.map(({ to, reason }) => [to, reason]))).toEqual({
    'bat@b.mn': 'unknown_recipient',
    'c@b.mn': 'unknown_recipient',
    'erased:Abc': 'unknown_recipient',
    99112233: 'opt_out',
  });
  await core.close();
  const now = new DatabaseSync(path);
  expect(
    now
      .prepare('SELECT mailbox FROM messages ORDER BY seq')
      .all()
      .map((row) => (row as { mailbox: string }).mailbox),
  ).toEqual(['bat@b.mn', null, 'bat@b.mn', null, null]);
  now.close();
});
