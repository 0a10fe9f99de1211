import { describe, expect, it } from 'vitest';
import { exitOfFailure } from '../../src/cli/exit-codes.js';
import { answers, fakeService, type Reply, refusal, run } from '../support/run.js';

const network = (code: string) => Object.assign(new Error('socket'), { code });
const html: Reply = { status: 502, text: '<html>Bad Gateway</html>' };

const send = "sms send 99112233 'hi' --max-retries 0";
const read = 'balance --max-retries 0';
const create = 'verify create 99112233';
const check = 'verify check v-1 123456';

/** Every row of the table of exit codes that one answer of a service leads to. */
const table: [line: string, exit: number, code: string, answer: Reply | Error][] = [
  [read, 4, 'unauthorized', refusal(401, 'unauthorized')],
  [send, 4, 'unauthorized', refusal(401, 'unauthorized')],
  [send, 5, 'rate_limited', { ...refusal(429, 'rate_limited'), headers: { 'Retry-After': '11' } }],
  [send, 5, 'recipient_rate_limited', refusal(429, 'recipient_rate_limited')],
  [read, 5, 'unavailable', refusal(503, 'unavailable')],
  [read, 5, 'connection_error', network('ECONNREFUSED')],
  [read, 5, 'unexpected_response', html],
  [read, 5, 'teapot', refusal(500, 'teapot')],
  [send, 6, 'connection_error', network('ECONNRESET')],
  [send, 6, 'unexpected_response', html],
  [send, 6, 'unavailable', refusal(503, 'unavailable')],
  [send, 6, 'teapot', refusal(500, 'teapot')],
  [create, 6, 'connection_error', network('ECONNRESET')],
  [check, 6, 'unexpected_response', html],
  [send, 7, 'insufficient_credits', refusal(402, 'insufficient_credits', { balance: 1, required: 10 })],
  [send, 8, 'invalid_request', refusal(400, 'invalid_request')],
  [send, 8, 'unsupported_number', refusal(422, 'unsupported_number')],
  [send, 8, 'message_too_long', refusal(422, 'message_too_long')],
  [send, 8, 'request_too_large', refusal(413, 'request_too_large')],
  [send, 9, 'provider_failed', refusal(502, 'provider_failed', { id: 'm-1' })],
  [check, 10, 'invalid_code', refusal(422, 'invalid_code', { attempts_remaining: 4 })],
  [check, 10, 'verification_closed', refusal(409, 'verification_closed')],
  ['messages get m-1', 12, 'not_found', refusal(404, 'not_found')],
];

describe('the exit code', () => {
  it.each(table)('of `%s` is %i for %s', async (line, exit, code, answer) => {
    const { fetch } = fakeService(() => answer);
    const people = await run(line, { fetch });
    expect(people).toMatchObject({ code: exit, stdout: '' });
    expect(people.stderr).toMatch(/^urtuu: .+\n( {2}.+\n)?$/);
    const { error } = JSON.parse((await run(`${line} --json`, { fetch })).stderr);
    expect(error).toMatchObject({ code, exit });
    expect(error.hint).toBeTypeOf('string');
  });

  it('of a timed-out send is 6, and its error names the key to repeat it with', async () => {
    const { fetch } = fakeService(() => Object.assign(new Error('late'), { name: 'TimeoutError' }));
    const { code, stderr } = await run(`${send} --json`, { fetch });
    const { error } = JSON.parse(stderr);
    expect(code).toBe(6);
    expect(error.idempotency_key).toMatch(/^[\x21-\x7e]{8,255}$/);
    expect(error).toMatchObject({ retryable: true, status: null });
    expect(error.hint).toContain(`--idempotency-key ${error.idempotency_key}`);
  });

  it('of a check in doubt does not call it retryable: a try may have been counted', async () => {
    const { fetch } = fakeService(() => network('ECONNRESET'));
    expect(JSON.parse((await run(`${check} --json`, { fetch })).stderr).error.retryable).toBe(false);
  });

  it.each([
    [401, 4],
    [403, 4],
    [402, 7],
    [404, 12],
    [429, 5],
    [418, 8],
    [500, 5],
    [null, 5],
  ])('of an unknown code with status %s is %i for a read', (status, exit) => {
    expect(exitOfFailure({ code: 'new_one', status }, 'reading')).toBe(exit);
  });

  it('of an unknown code with status 500 is 6 for a send', () => {
    expect(exitOfFailure({ code: 'new_one', status: 500 }, 'sending')).toBe(6);
    expect(exitOfFailure({ code: 'constructor', status: 400 }, 'sending')).toBe(8);
  });

  it('is 4 without a key, 2 for a forbidden base URL, 13 for a missing file', async () => {
    expect(await run(send, { env: {} })).toMatchObject({ code: 4 });
    expect(await run(`${send} --base-url http://example.mn/v1`)).toMatchObject({ code: 2 });
    expect(await run('sms send 99112233 --text-file nowhere.txt')).toMatchObject({ code: 13 });
    expect(await run('sms send 99112233 --text-file .')).toMatchObject({ code: 13 });
    expect(await run('messages get ..')).toMatchObject({ code: 8 });
    expect(await run('balance --timeout 0')).toMatchObject({ code: 2 });
    expect(await run('balance --api-key-file nowhere.txt')).toMatchObject({ code: 13 });
  });

  it('is 1 for what nobody foresaw', async () => {
    const questions = { ...answers(), text: () => Promise.reject(new RangeError('odd')) };
    const { code, stderr } = await run('sms send', { questions, terminal: 100 });
    expect(code).toBe(1);
    expect(stderr).toContain('a fault of the program: RangeError: odd');
  });

  it('is 13 when the embedded service cannot run', async () => {
    const openService = () => Promise.reject(new Error('the engine is not installed'));
    const { code, stderr } = await run('balance --sandbox', { openService });
    expect(code).toBe(13);
    expect(stderr).toContain('the engine is not installed');
  });
});
