import { describe, expect, it } from 'vitest';
import { realSystem } from '../../src/client/system.js';
import { isIdempotencyKey } from '../../src/contract/index.js';

describe('realSystem', () => {
  it('stops a timer that is cancelled', () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const stop = realSystem.after(60_000, () => {});
    expect(timers()).toBe(before + 1);
    stop();
    expect(timers()).toBe(before);
  });

  it('makes keys that the service takes, no two the same', () => {
    const keys = Array.from({ length: 1_000 }, () => realSystem.newIdempotencyKey());
    expect(keys.every(isIdempotencyKey)).toBe(true);
    expect(new Set(keys).size).toBe(1_000);
  });
});
