import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { Deadlines } from '../../../src/service/dispatch/deadlines.js';

describe('a submission', () => {
  it('that is answered in time gives its answer, and its error', async () => {
    const deadlines = new Deadlines(new ManualClock());
    expect(await deadlines.race(1_000, async () => 'taken', expect.fail)).toBe('taken');
    await expect(deadlines.race(1_000, () => Promise.reject(new Error('lost')), expect.fail)).rejects.toThrow(
      'lost',
    );
  });

  it('that is not is aborted, and its late answer is told', async () => {
    const clock = new ManualClock();
    const deadlines = new Deadlines(clock);
    let answer = (_: string) => {};
    let isAborted = false;
    const late: string[] = [];
    const submit = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => {
        isAborted = true;
      });
      return new Promise<string>((resolve) => {
        answer = resolve;
      });
    };
    const result = deadlines.race(1_000, submit, (one) => late.push(one));
    clock.advance(999);
    expect(isAborted).toBe(false);
    clock.advance(1_001);
    expect([await result, isAborted]).toEqual(['deadline', true]);
    answer('taken');
    await Promise.resolve();
    expect(late).toEqual(['taken']);
  });

  it('whose error comes late is over', async () => {
    const clock = new ManualClock();
    const deadlines = new Deadlines(clock);
    let fail = (_: Error) => {};
    const submit = () =>
      new Promise<string>((_, reject) => {
        fail = reject;
      });
    const result = deadlines.race(1_000, submit, expect.fail);
    clock.advance(2_000);
    fail(new Error('lost'));
    expect(await result).toBe('deadline');
  });
});
