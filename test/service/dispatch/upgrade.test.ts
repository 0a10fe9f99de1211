import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { migrations } from '../../../src/service/storage/sqlite/schema/schema.js';
import { Cores, caller, ledgerDifference, outboxOf, pass } from '../../support/cores.js';
import { downgrade } from '../../support/old-schema.js';

const { DatabaseSync } = await loadEngine();
const cores = new Cores();
afterEach(() => cores.closeAll());

it.each([1, 2])('messages of schema %i that had no end are sent once each', async (version) => {
  const directory = cores.folder();
  const clock = new ManualClock(Date.UTC(2026, 5, 1));
  const before = await cores.open({ directory, clock });
  // As an older release left them: never claimed, claimed by a process that died, and claimed and postponed.
  const ids = Array.from({ length: 6 }, () => randomUUID());
  const submitted = [ids[3], ids[5]];
  await before.administration.credit(-60);
  const signal = new AbortController().signal;
  for (const reference of submitted) {
    const route = { channel: 'sms', route: 'Mobicom', to: '99112233' } as const;
    const content = { text: 'Hi', subject: null, html: null, from: null, replyTo: null };
    await before.carrier.submit({ reference: reference ?? '', attempt: 1, ...route, ...content }, signal);
  }
  await before.close();
  const path = join(directory, 'service.db');
  downgrade(path, migrations.slice(0, version));
  // What knew of no installation had no file of it.
  if (version === 1) rmSync(join(directory, 'installation.json'));
  const store = new DatabaseSync(path);
  store.exec("INSERT INTO contents (seq, text) VALUES (100, 'Hi')");
  const insert = store.prepare(
    `INSERT INTO messages (id, project, content, channel, recipient, operator, status, parts, rate_multiplier, credits,
       created_at, due_at, lease, attempts) VALUES (?, 1, 100, 'sms', ?, 'Mobicom', 'queued', 1, 1, 10, ?, ?, ?, ?)`,
  );
  const now = clock.now();
  const died = clock.now() + 4_000;
  const states = [
    [now, null, 0],
    [now, null, 0],
    [null, 'dead.1', 1],
    [null, 'dead.1', 1],
    [now, null, 3],
    [now, null, 2],
  ] as const;
  states.forEach(([due, lease, attempts], index) => {
    insert.run(ids[index] ?? '', `9911223${index}`, now - 86_400_000, due, lease, attempts);
  });
  store.prepare("INSERT INTO leases VALUES ('dead.1', ?, 1, 6, 2)").run(died);
  store.close();

  const core = await cores.open({ directory, clock });
  await pass(clock, 6_000);
  await core.administration.idle();
  expect((await outboxOf(core)).map(({ message_id }) => message_id).sort()).toEqual([...ids].sort());
  for (const id of ids)
    expect(await core.operations.getMessage(caller, id)).toMatchObject({ status: 'sent' });
  expect(await core.carrier.outbox.repeats()).toBe(0);
  expect(await ledgerDifference(core)).toBe(0);
});

it('what an older release that still runs accepts is sent, and it claims nothing more', async () => {
  const directory = cores.folder();
  const clock = new ManualClock(Date.UTC(2026, 5, 1));
  const core = await cores.open({ directory, clock });
  await core.administration.credit(-10);
  const id = randomUUID();
  // In its words: no lane, no mark, no holder.
  const old = new DatabaseSync(join(directory, 'service.db'));
  old.exec("INSERT INTO contents (seq, text) VALUES (100, 'Hi')");
  old
    .prepare(
      `INSERT INTO messages (id, project, content, channel, recipient, operator, status, parts, rate_multiplier, credits,
         created_at, due_at, lease, attempts) VALUES (?, 1, 100, 'sms', '99112233', 'Mobicom', 'queued', 1, 1, 10, ?, ?, NULL, 0)`,
    )
    .run(id, clock.now(), clock.now());
  const lease = old.prepare(
    'INSERT INTO leases (token, until, first_message, last_message, open, holder) VALUES (?, ?, ?, ?, ?, ?)',
  );
  // Of a release without holders, and of one whose holders have no version.
  for (const holder of [null, 'machine.1.2'])
    expect(() => lease.run('old.1', clock.now() + 5_000, 1, 1, 1, holder)).toThrow(
      'a newer version of urtuu',
    );
  lease.run('reset:old', clock.now() + 4_000, 0, -1, 1, null);
  const suppression = old.prepare("INSERT INTO suppressions VALUES (NULL, 1, ?, 'asked', 1)");
  for (const to of ['Bat@b.mn', 'dorj@b.mn', '99112233'])
    expect(() => suppression.run(to)).toThrow('a newer version of urtuu');
  old.prepare('DELETE FROM leases').run();
  old.close();

  await pass(clock, 2_000);
  expect(await core.operations.getMessage(caller, id)).toMatchObject({ status: 'sent' });
  expect(await outboxOf(core)).toMatchObject([{ message_id: id, route: 'Mobicom' }]);
});
