import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { smsResult } from '../support/resources.js';
import { fakeService, refusal, run, testKey } from '../support/run.js';

/** Texts that can be found again: in what they say, whatever is said around them. */
const secret = fc
  .tuple(
    fc.constantFrom('Код', 'code', 'парол', 'x'),
    fc.integer({ min: 100_000, max: 999_999 }),
    fc.string(),
  )
  .map(([word, number, rest]) => `${word}${number}${rest.replaceAll('-', '')}`);
const code = fc.stringMatching(/^\d{8}$/);
const number = fc.stringMatching(/^99[1-9]{6}$/);

describe('--verbose', () => {
  it('tells of each exchange: method, address, status, time, key and allowance', async () => {
    const headers = { 'X-Request-Id': 'r-1', 'X-RateLimit-Limit': '40', 'X-RateLimit-Remaining': '39' };
    const service = fakeService(() => ({ body: smsResult(), headers }));
    const { stderr } = await run('sms send 99112233 hi -v --idempotency-key order-7', service);
    expect(stderr).toBe(
      'POST http://127.0.0.1:7788/v1/sms -> 200 in 0 ms, to=[8 characters] text=[2 characters], idempotency key order-7, request r-1, 39 of 40 requests left\n',
    );
    const down = fakeService(() => Object.assign(new Error('down'), { code: 'ECONNREFUSED' }));
    const { stderr: failed } = await run('balance -v --max-retries 0', down);
    expect(failed).toContain('GET http://127.0.0.1:7788/v1/balance -> no answer in 0 ms\n');
  });

  it('never tells recipients, texts, codes or the key', async () => {
    await fc.assert(
      fc.asyncProperty(
        secret,
        secret,
        number,
        code,
        fc.boolean(),
        async (first, second, to, digits, fails) => {
          const answer = fails ? refusal(400, 'invalid_request') : { body: smsResult() };
          for (const argv of [
            ['sms', 'send', '--', to, second],
            [
              'email',
              'send',
              `--subject=${first}`,
              `--text=${second}`,
              `--from-name=${first}`,
              '--',
              `${to}@b.mn`,
            ],
            ['email', 'send', `--subject=${first}`, `--html=${second}`, '--', 'a@b.mn'],
            ['verify', 'create', `--text=${second}`, '--', to],
            ['verify', 'check', '--', 'v', digits],
          ]) {
            const service = fakeService(() => answer);
            const line = [...argv.slice(0, 2), '-v', '--quiet', '--mask', ...argv.slice(2)];
            const { stderr } = await run('', { argv: line, ...service });
            expect(service.requests).toHaveLength(1);
            const told = stderr.split('\n').filter((each) => each.includes(' -> '));
            expect(told).toHaveLength(1);
            for (const hidden of [first, second, to, digits, first.slice(0, 8), testKey]) {
              expect(told.join('\n')).not.toContain(hidden);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a key', () => {
  it('is not said by an error that quotes it, as a proxy may', async () => {
    for (const key of [testKey, 'a-key-of-another-form', 'p@ss/w0rd+long==']) {
      const service = fakeService(({ headers }) => ({
        status: 400,
        body: { error: { code: `x ${key}`, message: `you sent ${headers.Authorization}`, invalid: [key] } },
      }));
      for (const line of [
        'balance',
        'balance -v',
        'balance --json',
        'sms send 99112233 hi',
        'doctor --quiet',
      ]) {
        const { stdout, stderr } = await run(line, { ...service, env: { URTUU_API_KEY: key } });
        expect(stdout + stderr).toContain('you sent');
        expect(stdout + stderr).not.toContain(key);
      }
    }
  });

  it('is not printed when the service echoes it, in an answer or a header', async () => {
    for (const key of [testKey, 'a-key-of-another-form', 'p@ss/w0rd+long==', 'quo"te\\d-secret']) {
      const echo = smsResult({ error: { code: key, message: key }, created_at: key });
      const service = fakeService(({ method, path }) => ({
        body: { ...echo, id: method === 'GET' && path.startsWith('/messages') ? `m ${key}` : key },
        headers: { 'X-Request-Id': `r ${key}`, Date: key },
      }));
      const away = fakeService(() => ({ ...refusal(503, key), headers: { 'X-Request-Id': key } }));
      for (const { fetch } of [service, away]) {
        for (const line of [
          'sms send 99112233 hi',
          'sms send 99112233 hi -v --json',
          'messages get m -v',
          'messages get m n --json -v',
          'verify create 99112233 -v -o csv',
          `messages get ${encodeURIComponent(key)} -v`,
          'doctor -v',
        ]) {
          const { stdout, stderr } = await run(`${line} --max-retries 0`, {
            fetch,
            env: { URTUU_API_KEY: key },
          });
          for (const form of [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)]) {
            expect(stdout + stderr).not.toContain(form);
          }
        }
      }
      const { stderr } = await run('sms send 99112233 hi -v', { ...service, env: { URTUU_API_KEY: key } });
      expect(stderr).toContain('request r [API key]');
    }
  });

  it.each([
    [[testKey]],
    [['balance', testKey]],
    [['balance', `--api-key=${testKey}`]],
    [['balance', '--api-key', testKey]],
    [['balance', `--${testKey}`]],
    [['login', testKey]],
    [['login', '--profile', testKey]],
    [['login', '--api-key-file', testKey]],
    [['--profile', testKey, 'balance']],
    [['--base-url', `https://${testKey}@example.mn/v1`, 'balance']],
    [['help', testKey]],
    [['completion', testKey]],
    [['balance', '--min', testKey]],
    [['jobs', 'show', testKey]],
  ])('that is given in a wrong place is refused and not repeated: %j', async (argv) => {
    for (const more of [[], ['--json']]) {
      const { code, stdout, stderr } = await run('', { argv: [...argv, ...more], env: {} });
      expect(code).not.toBe(0);
      expect(stdout + stderr).not.toContain(testKey);
    }
  });
});
