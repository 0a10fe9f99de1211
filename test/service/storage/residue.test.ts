import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { Cores, caller } from '../../support/cores.js';
import { isOnPostgres } from '../../support/test-engine.js';

const cores = new Cores();
afterEach(() => cores.closeAll());
const day = 86_400_000;

/** In no order: their pages are split in the middle. */
const addresses = Array.from({ length: 2_000 }, (_, index) => `p${(index * 7_919) % 10_007}@example.mn`);

it.skipIf(isOnPostgres())('a prune leaves no copy of a row that was moved', async () => {
  const directory = cores.folder();
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const core = await cores.open({ directory, clock });
  const mail = { subject: 'private', text: 'private' };
  for (let first = 0; first < addresses.length; first += 250) {
    const params = { ...mail, to: addresses.slice(first, first + 250) };
    await core.operations.sendEmailBulk({ caller, params, idempotencyKey: null });
  }
  for (const to of addresses.slice(0, 150))
    await core.operations.sendEmail({
      caller,
      params: { ...mail, to },
      idempotencyKey: `key-${to.replace('@', '-')}`,
    });
  await core.administration.idle();
  clock.set(clock.now() + 9 * day);
  expect(await core.administration.prune({ olderMs: 2 * day })).toMatchObject({ messages: 2_150 });
  await core.close();
  for (const name of readdirSync(directory).filter((each) => /\.db(?:-wal)?$/.test(each)))
    expect(readFileSync(join(directory, name), 'latin1').match(/p\d+@example|private/g)).toBeNull();
});

it.skipIf(isOnPostgres())('a prune and a stop leave no copy in the -wal of a small service', async () => {
  const directory = cores.folder();
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const core = await cores.open({ directory, clock });
  await core.operations.sendSms({
    caller,
    params: { to: '99112233', text: 'private' },
    idempotencyKey: null,
  });
  await core.administration.idle();
  clock.set(clock.now() + 9 * day);
  await core.administration.prune({ olderMs: 2 * day });
  await core.close();
  for (const name of readdirSync(directory).filter((each) => /\.db/.test(each)))
    expect([name, readFileSync(join(directory, name), 'latin1').match(/99112233|private/g)]).toEqual([
      name,
      null,
    ]);
});
