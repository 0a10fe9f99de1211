import { describe, expect, it } from 'vitest';
import { tortureBulk } from './bulk-torture.js';

describe('urtuu sms bulk, killed again and again', () => {
  it('loses nobody and sends nobody twice, where senders without its keys do', {
    timeout: 120_000,
  }, async () => {
    const result = await tortureBulk({
      seed: 5,
      recipients: 1_200,
      kills: 6,
      rounds: 2,
      faults: 0.2,
      rate: 300,
      controlRecipients: 600,
    });
    expect(result.engine).toEqual({ recipients: 1_200, lost: 0, twice: 0 });
    expect(result.faults).toBeGreaterThan(0);
    expect(result.randomKeys.twice).toBeGreaterThan(0);
    expect(result.contentKeys.twice).toBeGreaterThan(0);
  });
});
