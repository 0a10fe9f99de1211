import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isJobName,
  jobIdOf,
  type KeyedPlan,
  newRunId,
  readJobId,
  repeatId,
  requestKeys,
} from '../../../../src/cli/bulk/job/keys.js';
import { DueQueue } from '../../../../src/cli/bulk/send/due-queue.js';
import { isIdempotencyKey } from '../../../../src/contract/index.js';

describe('the keys of a job', () => {
  const plan: KeyedPlan = { version: 2, baseUrl: 'http://a/v1', channel: 'sms', digest: 'd', run: null };

  it('are what Limits, Idempotency, 2 allows, and differ by job, plan, run, request and revision', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.nat(999), fc.string(), (job, request, revision, digest) => {
        const known = { ...plan, digest };
        const key = requestKeys(job, known)(request, revision);
        expect(isIdempotencyKey(key)).toBe(true);
        expect(requestKeys(job, known)(request, revision)).toBe(key);
        const others = [
          requestKeys(`${job}x`, known)(request, revision),
          requestKeys(job, known)(request + 1, revision),
          requestKeys(job, known)(request, revision + 1),
          ...[
            { digest: `${digest}1` },
            { baseUrl: 'http://b/v1' },
            { channel: 'email' as const },
            { run: 'r' },
            { version: 1 as const },
          ].map((change) => requestKeys(job, { ...known, ...change })(request, revision)),
        ];
        expect(others).not.toContain(key);
        expect(new Set(others).size).toBe(others.length);
      }),
    );
  });

  it('of a repeat are those of its run, wherever its folder is numbered', () => {
    const run = newRunId();
    expect(requestKeys('july.3', { ...plan, run })(0, 0)).toBe(requestKeys('july.2', { ...plan, run })(0, 0));
    expect(newRunId()).not.toBe(run);
  });

  it('never change: jobs go on with theirs', () => {
    expect(requestKeys('july', { ...plan, version: 1 })(0, 0)).toBe(
      'bulk-Q7Ku5yDpQRruROStyDTGRxBURIoJSMZEwHoB6NdtRd8',
    );
    expect(requestKeys('july', plan)(0, 0)).toBe('bulk-qieUwLVydxzLLShM9ofMEceCYRTbebs8qlJJcoidDp0');
    expect(requestKeys('july.2', { ...plan, run: 'r' })(7, 1)).toBe(
      'bulk-vMKJOoeO8nw2WB2qGAseNAxKY9XliPJmtSugnXGA0tc',
    );
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
        const aside = new DueQueue<{ request: number; since: number; due: number }>();
        for (const [request, due] of dues.entries()) aside.put({ request, since: 0, due });
        const taken: number[] = [];
        for (let now = 0; now <= 50; now += 1) {
          for (let each = aside.take(now); each !== null; each = aside.take(now)) {
            expect(each.due).toBe(now);
            taken.push(each.request);
          }
        }
        expect(taken.sort((a, b) => a - b)).toEqual([...dues.keys()]);
        expect(aside.next).toBeNull();
      }),
    );
  });
});
