import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunkKey, isJobName, jobIdOf, readJobId, repeatId } from '../../../src/cli/bulk/keys.js';
import { SetAside } from '../../../src/cli/bulk/set-aside.js';
import { isIdempotencyKey } from '../../../src/contract/index.js';

describe('the keys of a job', () => {
  it('are what Limits, Idempotency, 2 allows, and differ by job, chunk and revision', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.nat(999), (job, chunk, revision) => {
        const key = chunkKey(job, chunk, revision);
        expect(isIdempotencyKey(key)).toBe(true);
        expect(chunkKey(job, chunk, revision)).toBe(key);
        const others = [chunkKey(`${job}1`, chunk, revision), chunkKey(job, chunk + 1, revision)];
        expect([...others, chunkKey(job, chunk, revision + 1)]).not.toContain(key);
      }),
    );
  });

  it('never change: jobs of earlier versions go on with theirs', () => {
    expect(chunkKey('july', 0, 0)).toBe('bulk-Q7Ku5yDpQRruROStyDTGRxBURIoJSMZEwHoB6NdtRd8');
    expect(jobIdOf({ baseUrl: 'http://127.0.0.1:7788/v1', channel: 'sms', digest: 'd' })).toBe(
      'sms-677e82b709d5ef2f073d',
    );
  });

  it.each(['july', 'a', 'x.y-z_1', '2026-07'])('%s can name a job', (name) =>
    expect(isJobName(name)).toBe(true),
  );

  it.each(['', '.', '..', '.x', '-x', 'a/b', 'a b', 'a\n', 'x.2', 'x.', 'a'.repeat(101), 'июль'])(
    '%j cannot name a job',
    (name) => expect(isJobName(name)).toBe(false),
  );

  it('number the runs of a job', () => {
    expect([1, 2, 10].map((run) => repeatId('july', run))).toEqual(['july', 'july.2', 'july.10']);
    expect(readJobId('july.10')).toEqual({ base: 'july', run: 10 });
    expect(readJobId('x.y')).toEqual({ base: 'x.y', run: 1 });
  });
});

describe('what is set aside', () => {
  it('comes back in the order it is due, and not before', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 40 }), (dues) => {
        const aside = new SetAside<{ chunk: number; since: number; due: number }>();
        for (const [chunk, due] of dues.entries()) aside.put({ chunk, since: 0, due });
        const taken: number[] = [];
        for (let now = 0; now <= 50; now += 1) {
          for (let each = aside.take(now); each !== null; each = aside.take(now)) {
            expect(each.due).toBe(now);
            taken.push(each.chunk);
          }
        }
        expect(taken.sort((a, b) => a - b)).toEqual([...dues.keys()]);
        expect(aside.next).toBeNull();
      }),
    );
  });
});
