import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { realSystem } from '../../src/client/system.js';
import { isIdempotencyKey } from '../../src/contract/index.js';

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('realSystem', () => {
  let before = 0;
  beforeEach(() => {
    before = timers();
  });

  it('stops a timer that is cancelled', () => {
    const stop = realSystem.after(60_000, () => {});
    expect(timers()).toBe(before + 1);
    stop();
    expect(timers()).toBe(before);
  });

  it('ends a sleep at once when its signal aborts, before or during it, and stops its timer', async () => {
    const controller = new AbortController();
    const slept = realSystem.sleep(60_000, controller.signal);
    expect(timers()).toBe(before + 1);
    controller.abort();
    await slept;
    expect(timers()).toBe(before);
    await realSystem.sleep(60_000, controller.signal);
    expect(timers()).toBe(before);
  });

  it('leaves no listener after a sleep', async () => {
    const { signal } = new AbortController();
    await realSystem.sleep(1, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('makes keys that the service takes, no two the same', () => {
    const keys = Array.from({ length: 1_000 }, () => realSystem.newIdempotencyKey());
    expect(keys.every(isIdempotencyKey)).toBe(true);
    expect(new Set(keys).size).toBe(1_000);
  });
});
