import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { bodyOf, Cores, caller, requestsTo } from '../../support/cores.js';

const cores = new Cores();
let core: Core;

beforeEach(async () => {
  core = await cores.open({ clock: new ManualClock(Date.UTC(2026, 5, 1, 4)) });
});
afterEach(() => cores.closeAll());

const { sendBulk } = requestsTo(() => core);

describe('Limits, per-recipient caps', () => {
  it('of batches that wait together the first ones in get through', async () => {
    const ids: string[] = [];
    for (let batch = 0; batch < 7; batch += 1) {
      ids.push((await bodyOf<{ id: string }>(sendBulk(['99112233'], 'Hi'))).id);
    }
    await core.administration.idle();
    const batches = await Promise.all(ids.map((id) => core.operations.getBatch(caller, id)));
    expect(batches.map(({ sent }) => sent)).toEqual([1, 1, 1, 1, 1, 0, 0]);
  });
});
