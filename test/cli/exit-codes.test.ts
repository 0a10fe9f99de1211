import { describe, expect, it, onTestFinished } from 'vitest';
import { exitOfFailure } from '../../src/cli/exit-codes.js';
import type { Exchange } from '../../src/cli/network/exchange.js';
import { printedError } from '../../src/cli/printed-error.js';
import { Desk } from '../support/desk.js';
import { answers, fakeService, type Reply, refusal, run, testKey } from '../support/run.js';

const network = (code: string) => Object.assign(new Error('socket'), { code });
/** As Node.js reports a connection that nobody took. */
const refused = Object.assign(network('ECONNREFUSED'), { syscall: 'connect' });
const unknownHost = Object.assign(network('ENOTFOUND'), { syscall: 'getaddrinfo' });
const verified = { id: 'v-1', status: 'verified', channel: 'sms', to: '99112233' };
const html: Reply = { status: 502, text: '<html>Bad Gateway</html>' };

const send = "sms send 99112233 'hi' --max-retries 0";
const email = 'email send a@b.mn --subject s --text t --max-retries 0';
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
  [send, 5, 'connection_error', refused],
  [send, 5, 'connection_error', unknownHost],
  [send, 5, 'connection_error', network('DEPTH_ZERO_SELF_SIGNED_CERT')],
  [create, 5, 'connection_error', refused],
  [check, 5, 'connection_error', refused],
  [send, 6, 'connection_error', network('ECONNREFUSED')],
  [send, 6, 'connection_error', network('ECONNRESET')],
  [send, 6, 'unexpected_response', html],
  [send, 6, 'unavailable', refusal(503, 'unavailable')],
  [send, 6, 'teapot', refusal(500, 'teapot')],
  [send, 6, 'unexpected_response', { body: {} }],
  [send, 6, 'unexpected_response', { body: { id: 'm', status: 'sent', to: null } }],
  [send, 6, 'unexpected_response', { status: 204, text: '' }],
  [send, 6, 'unexpected_response', { status: 401, text: '<html>Sign in</html>' }],
  [email, 6, 'unexpected_response', { status: 202, body: { id: 'm' } }],
  [read, 5, 'unexpected_response', { text: '{"balance": -1e999}' }],
  [create, 6, 'unexpected_response', { status: 201, body: {} }],
  [check, 6, 'unexpected_response', { body: {} }],
  [check, 6, 'unexpected_response', { body: { ...verified, status: 'pending' } }],
  [check, 6, 'unexpected_response', { body: { ...verified, status: 'failed' } }],
  [check, 6, 'unexpected_response', { body: { ...verified, status: 'expired' } }],
  [check, 6, 'unexpected_response', { body: { ...verified, id: 'v-2' } }],
  [check, 6, 'unexpected_response', { status: 202, text: '' }],
  [create, 6, 'connection_error', network('ECONNRESET')],
  [check, 6, 'unexpected_response', html],
  [send, 7, 'insufficient_credits', refusal(402, 'insufficient_credits', { balance: 1, required: 10 })],
  [send, 8, 'invalid_request', refusal(400, 'invalid_request')],
  [send, 8, 'unsupported_number', refusal(422, 'unsupported_number')],
  [send, 8, 'message_too_long', refusal(422, 'message_too_long')],
  [send, 8, 'request_too_large', refusal(413, 'request_too_large')],
  [send, 8, 'conflict', refusal(409, 'conflict')],
  [send, 8, 'too_slow', refusal(408, 'too_slow')],
  [send, 8, 'too_early', refusal(425, 'too_early')],
  [create, 8, 'conflict', refusal(409, 'conflict')],
  [send, 6, 'unexpected_response', { status: 408, text: '<html>Request Timeout</html>' }],
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

  it.each([
    [check, 'The code may have been checked. See the status with: urtuu verify get v-1'],
    [
      create,
      'A code may have been sent: ask the recipient. A new verification sends another code and charges for it.',
    ],
  ])('of `%s` without an answer is 6, with the way out', async (line, hint) => {
    const { fetch } = fakeService(() => network('ECONNRESET'));
    const { code, stderr } = await run(`${line} --json`, { fetch });
    expect(code).toBe(6);
    expect(JSON.parse(stderr).error).toMatchObject({ retryable: false, hint });
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

  const late = { ...refusal(429, 'rate_limited'), headers: { 'Retry-After': '60' } };
  // What the client makes of every row of answers is tested there; these wait for its backoff.
  it.concurrent.each<[exit: number, code: string, answers: (Reply | Error)[]]>([
    [5, 'rate_limited', [late]],
    [5, 'connection_error', [refused, refused]],
    [6, 'rate_limited', [network('ECONNRESET'), late]],
    [6, 'insufficient_credits', [network('ECONNRESET'), refusal(402, 'insufficient_credits')]],
    [6, 'unauthorized', [refusal(503, 'unavailable'), refusal(401, 'unauthorized')]],
    [6, 'connection_error', [network('ECONNRESET'), refused]],
    [6, 'connection_error', [refused, network('ECONNRESET')]],
    [8, 'invalid_request', [network('ECONNRESET'), refusal(400, 'invalid_request')]],
    [9, 'provider_failed', [network('ECONNRESET'), refusal(502, 'provider_failed')]],
  ])('of a send is %i for %s at the end of its attempts', async (exit, code, answers) => {
    const service = fakeService((_, index) => answers[index] ?? new Error('one request too many'));
    const result = await run("sms send 99112233 'hi' --json --max-retries 1", service);
    expect(result).toMatchObject({ code: exit, stdout: '' });
    const { error } = JSON.parse(result.stderr);
    const key = service.requests.at(-1)?.headers['Idempotency-Key'];
    expect(error).toMatchObject({ code, exit, attempts: answers.length });
    if (exit === 6) {
      expect(error).toMatchObject({ idempotency_key: key, retryable: true });
      expect(error.hint).toMatch(
        /^(?:It|An earlier attempt) may have been sent\. Repeat it with --idempotency-key /,
      );
    } else {
      expect(error).not.toHaveProperty('idempotency_key');
    }
  });

  it('of a send that nobody took names where it was to go, and that it may be changed', async () => {
    const { fetch } = fakeService(() => refused);
    expect((await run(send, { fetch })).stderr).toBe(
      'urtuu: cannot connect to http://127.0.0.1:7788/v1 (the default; set URTUU_BASE_URL): connection refused\n' +
        '  Nothing was sent. Nothing listens there. Start the service with: urtuu serve; or try: --sandbox\n',
    );
    const elsewhere = await run(`${send} --base-url https://sms.example.mn/v1`, { fetch });
    expect(elsewhere.stderr).toBe(
      'urtuu: cannot connect to https://sms.example.mn/v1: connection refused\n' +
        '  Nothing was sent. Nothing listens there. Check the base URL and its port.\n',
    );
    expect((await run(read, { fetch })).stderr).not.toContain('Nothing was sent');
  });

  it('names the service to start only where it would listen there', async () => {
    const { fetch } = fakeService(() => refused);
    const hintAt = async (url: string) => {
      const { stderr } = await run(`${read} --json --base-url ${url}`, { fetch });
      return JSON.parse(stderr).error.hint;
    };
    expect(await hintAt('http://localhost:9000/v1')).toContain('with: urtuu serve --port 9000; or try');
    expect(await hintAt('https://localhost:9000/v1')).toBe(
      'Nothing listens there. Check the base URL and its port.',
    );
  });

  it('names the command that makes a key only for a service on this machine', async () => {
    const { fetch } = fakeService(() => refusal(403, 'forbidden'));
    const hintAt = async (url: string) => {
      const { stderr } = await run(`${read} --json --base-url ${url}`, { fetch });
      return JSON.parse(stderr).error.hint;
    };
    expect(await hintAt('http://127.0.0.1:7799/v1')).toMatch(/can create one with: urtuu keys create$/);
    expect(await hintAt('https://sms.example.mn/v1')).toBe(
      "Use a key with this scope. The service's owner can create one.",
    );
  });

  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is self-signed', 'NODE_EXTRA_CA_CERTS'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'ends in an untrusted self-signed certificate', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'its certificate has an unknown issuer', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'its certificate has expired', 'new certificate'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host', 'Check the base URL'],
  ])('of a send to a service with %s is 5, with its fault in words', async (code, words, hint) => {
    const { fetch } = fakeService(() => network(code));
    const result = await run(`${send} --base-url https://sms.example.mn/v1`, { fetch });
    expect(result.code).toBe(5);
    expect(result.stderr).toContain(`cannot connect to https://sms.example.mn/v1: `);
    expect(result.stderr).toContain(words);
    expect(result.stderr).toContain(`Nothing was sent.`);
    expect(result.stderr).toContain(hint);
  });

  it('of an internal error while a send is open is 6, with its key', async () => {
    const pendingSend = { idempotencyKey: 'k-1' } as Exchange;
    const config = { sandbox: false, withCommands: (text: string) => text };
    const network = { lastExchange: null };
    expect(
      await printedError(new TypeError('odd'), { config, network: { ...network, pendingSend } }),
    ).toMatchObject({
      code: 'fault',
      exit: 6,
      idempotency_key: 'k-1',
      hint: expect.stringContaining('--idempotency-key k-1'),
    });
    expect(await printedError(new TypeError('odd'), { config, network })).toMatchObject({ exit: 1 });
  });

  it('of data on a full disk is 13, and so is another error of its files', async () => {
    const source = {
      config: { sandbox: false, withCommands: (text: string) => text },
      network: { lastExchange: null },
    };
    const sqlite = (errcode: number) =>
      Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode });
    expect(await printedError(sqlite(13), source)).toMatchObject({
      code: 'machine',
      exit: 13,
      hint: 'Make room on the disk.',
    });
    expect(await printedError(sqlite(778), source)).toMatchObject({ exit: 13 });
    expect(await printedError(sqlite(1), source)).toMatchObject({ code: 'fault', exit: 1 });
  });

  it.each([
    ['HTTPS_PROXY', 'ftp://127.0.0.1:3128'],
    ['https_proxy', 'socks5://127.0.0.1:3128'],
    ['ALL_PROXY', 'socks5h://me:hunter2@127.0.0.1:3128'],
    ['HTTPS_PROXY', 'http://me:hun%ter2@127.0.0.1:3128'],
    ['HTTPS_PROXY', 'http://me:hunter2%ff@127.0.0.1:3128'],
    ['https_proxy', 'http://hunt%er:x@127.0.0.1:3128'],
    ['HTTPS_PROXY', 'http://me:hun#ter2@127.0.0.1:3128'],
    ['HTTPS_PROXY', 'http://me:12#hunter2@127.0.0.1:3128'],
    ['HTTPS_PROXY', 'http://me:12/hunter2@127.0.0.1:3128'],
    ['HTTPS_PROXY', 'http://me:12?hunter2@127.0.0.1:3128'],
  ])('of a wrong address of a proxy is 2, and shows nothing of it: %s=%s', async (name, proxy) => {
    const env = { URTUU_API_KEY: testKey, [name]: proxy };
    const home = new Desk();
    onTestFinished(() => home.remove());
    home.write('list.csv', ['phone', '99112233']);
    for (const line of [send, 'balance', "sms bulk list.csv --text 'Hi' --yes", 'doctor']) {
      const command = `${line} --base-url https://sms.example.mn/v1`;
      const { code, stdout, stderr, slept } = await run(command, { env, home: home.home, cwd: home.home });
      expect([line, code, slept]).toEqual([line, 2, 0]);
      const [what, hint] = proxy.startsWith('socks')
        ? [`${name} names a SOCKS proxy, which is not supported`, 'Set https_proxy to an HTTP proxy, or add']
        : proxy.includes('@')
          ? [`the user name or password in ${name} is not percent-encoded`, 'Percent-encode the password']
          : [`${name} is not an http or https address`, `Example: ${name}=http://proxy.example.mn:3128`];
      expect(stdout + stderr).toContain(what);
      expect(stderr).toContain(hint);
      expect(stdout + stderr).not.toMatch(/hun|ter2|er:x|127/);
    }
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

  it.each([
    ['unauthorized', 401, true, 6],
    ['connection_error', null, true, 6],
    ['connection_error', null, false, 5],
    ['timeout', null, false, 5],
    ['invalid_request', 400, false, 8],
  ])('goes by what the client says of the whole call: %s, %s, in doubt %s', (code, status, inDoubt, exit) => {
    expect(exitOfFailure({ code, status, inDoubt }, 'sending')).toBe(exit);
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

  it('is 1 for an unexpected error', async () => {
    const questions = { ...answers(), text: () => Promise.reject(new RangeError('odd')) };
    const { code, stderr } = await run('sms send', { questions, terminal: 100 });
    expect(code).toBe(1);
    expect(stderr).toContain('internal error: RangeError: odd');
  });

  it('is 13 when the embedded service cannot run', async () => {
    const openService = () => Promise.reject(new Error('the engine is not installed'));
    const { code, stderr } = await run('balance --sandbox', { openService });
    expect(code).toBe(13);
    expect(stderr).toContain('the engine is not installed');
  });
});
