import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  backoff,
  type CallKind,
  type Failure,
  planRetry,
  readRetryAfter,
} from '../../../src/client/transport/retry.js';

const callers = [
  { kind: 'read', hasCallersKey: false },
  { kind: 'send', hasCallersKey: false },
  { kind: 'send', hasCallersKey: true },
  { kind: 'verify', hasCallersKey: false },
] as const;
const nameOf = ({ kind, hasCallersKey }: { kind: CallKind; hasCallersKey: boolean }) =>
  kind === 'send' ? (hasCallersKey ? 'send, caller key' : 'send, own key') : kind;

const failure = (code: string, status: number | null, retryAfter: number | null = null): Failure => ({
  code,
  status,
  retryAfter,
});
/** read; send with the client's key; send with the caller's; verify. `=`: same key, `+`: a new one. */
type Row = [string, Failure, wait: number, verdicts: ['-' | '=', '-' | '=' | '+', '-' | '=', '-' | '=']];
const rows: Row[] = [
  ['429 rate_limited waits Retry-After', failure('rate_limited', 429, 3), 3_000, ['=', '=', '=', '=']],
  ['429 rate_limited waits decimals', failure('rate_limited', 429, 1.5), 1_500, ['=', '=', '=', '=']],
  ['429 rate_limited waits exactly 10 s', failure('rate_limited', 429, 10), 10_000, ['=', '=', '=', '=']],
  ['429 rate_limited over 10 s is thrown', failure('rate_limited', 429, 10.01), 0, ['-', '-', '-', '-']],
  ['429 rate_limited after 0 s is no hot loop', failure('rate_limited', 429, 0), 100, ['=', '=', '=', '=']],
  ['429 rate_limited without Retry-After', failure('rate_limited', 429), 500, ['=', '=', '=', '=']],
  ['429 of the recipient', failure('recipient_rate_limited', 429, 1), 0, ['-', '-', '-', '-']],
  ['429 that is not of the service', failure('unexpected_response', 429, 1), 0, ['-', '-', '-', '-']],
  ['429 with an unknown code', failure('of_tomorrow', 429, 1), 0, ['-', '-', '-', '-']],
  ['rate_limited with another 4xx', failure('rate_limited', 400, 1), 0, ['-', '-', '-', '-']],
  ['network failure', failure('connection_error', null), 500, ['=', '=', '=', '-']],
  ['timeout', failure('timeout', null), 500, ['=', '=', '=', '-']],
  ['500', failure('unavailable', 500), 500, ['=', '=', '=', '-']],
  ['503, whatever its Retry-After', failure('unavailable', 503, 60), 500, ['=', '=', '=', '-']],
  ['599', failure('of_tomorrow', 599), 500, ['=', '=', '=', '-']],
  ['5xx that is not of the service', failure('unexpected_response', 502), 500, ['=', '=', '=', '-']],
  ['502 provider_failed', failure('provider_failed', 502), 500, ['=', '+', '-', '-']],
  ['provider_failed with a 4xx', failure('provider_failed', 422), 0, ['-', '-', '-', '-']],
  ['600 is no server error', failure('unexpected_response', 600), 0, ['-', '-', '-', '-']],
  ['2xx that is not of the service', failure('unexpected_response', 200), 0, ['-', '-', '-', '-']],
  ['a redirect', failure('unexpected_response', 307), 0, ['-', '-', '-', '-']],
  ...['invalid_request', 'unauthorized', 'insufficient_credits', 'not_found'].map(
    (code): Row => [`4xx ${code}`, failure(code, 400, 1), 0, ['-', '-', '-', '-']],
  ),
];

describe('planRetry (Client retries)', () => {
  describe.each(rows)('%s', (_, failed, wait, verdicts) => {
    it.each(callers.map((caller, index) => [nameOf(caller), caller, verdicts[index]] as const))(
      '%s',
      (_name, caller, verdict) => {
        const retry = planRetry(failed, { ...caller, retries: 0, maxRetries: 2 }, () => 1);
        expect(retry).toEqual(verdict === '-' ? null : { wait, needsNewKey: verdict === '+' });
      },
    );
  });

  it.each([
    [0, 0, false],
    [0, 1, true],
    [1, 2, true],
    [2, 2, false],
    [3, 2, false],
  ])('after %d of %d retries goes on: %s', (retries, maxRetries, goesOn) => {
    const attempt = { kind: 'read', hasCallersKey: false, retries, maxRetries } as const;
    for (const failed of [failure('timeout', null), failure('rate_limited', 429, 1)]) {
      expect(planRetry(failed, attempt, () => 1) !== null).toBe(goesOn);
    }
  });
});

describe('backoff', () => {
  it.each([
    [0, 375, 500],
    [1, 750, 1_000],
    [2, 1_500, 2_000],
    [3, 3_000, 4_000],
    [4, 6_000, 8_000],
    [5, 6_000, 8_000],
    [5_000, 6_000, 8_000],
  ])('before retry %d is %d to %d ms', (retries, shortest, longest) => {
    expect(backoff(retries, 0)).toBe(shortest);
    expect(backoff(retries, 1)).toBe(longest);
  });
});

describe('readRetryAfter', () => {
  const now = Date.UTC(2030, 0, 1, 12);
  it.each([
    ['0', 0],
    ['1', 1],
    [' 7 ', 7],
    ['2.5', 2.5],
    ['86400', 86_400],
    ['99999999999999999999', 2_147_483],
    ['9'.repeat(400), 2_147_483],
    ['Tue, 01 Jan 2030 12:00:09 GMT', 9],
    ['Tuesday, 01-Jan-30 12:00:09 GMT', 9],
    ['Tue Jan  1 12:00:09 2030', 9],
    ['Tue, 01 Jan 2030 11:00:00 GMT', 0],
    ['Tue, 01 Jan 9999 12:00:00 GMT', 2_147_483],
    [null, null],
    ['', null],
    ['soon', null],
    ['-1', null],
    ['+1', null],
    ['1e3', null],
    ['0x10', null],
    ['1, 2', null],
    ['1.', null],
    ['.5', null],
    ['NaN', null],
    ['Infinity', null],
    ['2030-01-01', null],
    ['Tue, 41 Jan 2030 12:00:00 GMT', null],
  ])('%j is %j', (header, seconds) => expect(readRetryAfter(header, now)).toBe(seconds));

  it('gives seconds that are finite and not negative, or null, for any header', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const seconds = readRetryAfter(header, now);
        expect(seconds === null || (seconds >= 0 && seconds <= 2_147_483)).toBe(true);
      }),
    );
  });
});
