import assert from 'node:assert/strict';
import { it } from 'node:test';
import { killBulk } from './kill.js';
import { Machine } from './machine.js';
import { TestService } from './service.js';

it('a bulk job of 2,000 rows, killed 12 times: nobody is lost, and nobody gets it twice', async () => {
  const machine = new Machine();
  const service = await TestService.start();
  try {
    const found = await killBulk({ machine, service, recipients: 2_000, kills: 12, seed: 42 });
    assert.deepEqual(found, { lost: 0, twice: 0, twiceInControl: 50 });
  } finally {
    await service.close();
    machine.remove();
  }
});
