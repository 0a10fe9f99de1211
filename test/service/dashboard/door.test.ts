import { expect, it } from 'vitest';
import { type DashboardParts, dashboardDoor } from '../../../src/service/dashboard/door.js';
import { ManualClock } from '../../../src/service/index.js';

it('that cannot be opened answers 503, closes, and is opened again by the next request', async () => {
  const faults: unknown[] = [];
  const parts = {
    store: { recordDashboard: async () => {} },
    channels: {},
    clock: new ManualClock(0),
    report: (error: unknown) => faults.push(error),
  } as unknown as DashboardParts;
  const door = dashboardDoor(parts, null);
  const ask = () => door.fetch(new Request('http://127.0.0.1/dashboard'), async () => new Uint8Array());
  // Without the address where it listens it has none.
  const answers = await Promise.all([ask(), ask()]);
  expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  expect(faults).not.toEqual([]);
  await door.close();
  await door.at('http://127.0.0.1:7788/v1');
  // It answers to its own names only.
  expect((await ask()).status).toBe(421);
  await door.close();
});
