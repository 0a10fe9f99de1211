import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Fault } from '../../../src/service/index.js';
import { Cores, caller, outboxOf } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

it('many codes that nobody verifies are a warning an hour, and in the figures of the overview', async () => {
  const faults: Fault[] = [];
  const clock = new ManualClock();
  const core = await cores.open({ clock, report: (fault) => faults.push(fault) });
  const since = clock.now();
  const create = (to: number) => core.operations.createVerification(caller, { to: String(to) });
  for (let number = 99_112_200; number < 99_112_300; number += 1) await create(number);
  await core.administration.idle();
  expect(faults).toMatchObject([{ level: 'warning', code: 'Error' }]);
  expect(faults[0]?.stack).toMatch(/0 of \d+ verifications of the last hour were verified/);
  expect(await core.store.countVerifications(caller.projectId, since)).toEqual({ created: 100, verified: 0 });
  clock.advance(3_600_000);
  for (let number = 99_112_300; number < 99_112_350; number += 1) await create(number);
  await core.administration.idle();
  expect(faults).toHaveLength(2);
});

it('codes that are verified are no warning', async () => {
  const faults: Fault[] = [];
  const core = await cores.open({ report: (fault) => faults.push(fault) });
  for (let number = 99_112_200; number < 99_112_250; number += 1) {
    const to = String(number);
    const { id } = await core.operations.createVerification(caller, { to });
    if (number % 10 !== 0) continue;
    const code =
      /\d{6}/.exec((await outboxOf(core)).find((delivery) => delivery.to === to)?.text ?? '')?.[0] ?? '';
    await core.operations.checkVerification(caller, id, { code });
  }
  await core.administration.idle();
  expect(faults).toEqual([]);
});
