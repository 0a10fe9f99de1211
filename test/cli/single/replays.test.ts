import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyFolder } from '../../support/folders.js';
import { emailResult, smsMessage, smsResult } from '../../support/resources.js';
import { type FakeService, fakeService, type Reply, type Request, refusal, run } from '../../support/run.js';

const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });

/** A service that binds keys; `before` may answer in its place, `after` may lose an answer. */
function binding(
  before: (request: Request, index: number) => Reply | Error | null = () => null,
  after: (request: Request, index: number) => Error | null = () => null,
  project = 'm',
): FakeService & { sent: Record<string, unknown>[] } {
  const bound = new Map<string, object>();
  const sent: Record<string, unknown>[] = [];
  const service = fakeService((request, index) => {
    const early = before(request, index);
    if (early !== null) return early;
    if (request.method === 'GET') return refusal(404, 'not_found');
    const key = request.headers['Idempotency-Key'] ?? '';
    const old = bound.get(key);
    const channel = request.path === '/sms' ? 'sms' : 'email';
    const answer = old ?? {
      ...smsMessage(),
      id: `${project}-${bound.size}`,
      channel,
      to: request.body?.to,
      balance: 990,
    };
    if (old === undefined) sent.push(request.body ?? {});
    bound.set(key, answer);
    const headers: Record<string, string> = old === undefined ? {} : { 'Idempotency-Replayed': 'true' };
    return after(request, index) ?? { body: answer, headers };
  });
  return { ...service, sent };
}

describe('an idempotency key given by hand', () => {
  const home = emptyFolder();

  const send = async (line: string, service: FakeService, more = {}) => {
    const { code, stdout, stderr } = await run(`${line} --json --idempotency-key k`, {
      ...service,
      home,
      ...more,
    });
    const failed = stderr.includes('"error"') ? JSON.parse(stderr.slice(stderr.indexOf('{'))).error : null;
    return { code, result: stdout === '' ? null : JSON.parse(stdout), error: failed };
  };

  it.each<[string, Reply | Error, number]>([
    ['no credits', refusal(402, 'insufficient_credits'), 6],
    ['a rate', { ...refusal(429, 'rate_limited'), headers: { 'Retry-After': '60' } }, 6],
    ['a revoked key', refusal(401, 'unauthorized'), 6],
    ['no connection', Object.assign(new Error('x'), { code: 'ECONNREFUSED', syscall: 'connect' }), 6],
    ['a refusal of the content', refusal(422, 'message_too_long'), 8],
    ['a message that failed', refusal(502, 'provider_failed', { id: 'm' }), 9],
  ])(
    'that an earlier command left in doubt stays so after %s, until it is resolved',
    async (_, reply, exit) => {
      const none = refusal(402, 'insufficient_credits');
      const steps: (Reply | Error)[] = [reset, reply, none, none];
      const service = fakeService((_, index) => steps[index] as Reply);
      const line = 'sms send 99112233 hi --max-retries 0';
      expect(await send(line, service)).toMatchObject({ code: 6, error: { idempotency_key: 'k' } });
      const second = await send(line, service);
      expect(second.code).toBe(exit);
      if (exit === 6) expect(second.error).toMatchObject({ idempotency_key: 'k', retryable: true });
      if (exit === 6) expect(second.error.hint).not.toContain('Nothing was sent');
      expect(await send(line, service)).toMatchObject({ code: exit === 6 ? 6 : 7 });
      expect(await send('sms send 99112233 other --max-retries 0', service)).toMatchObject({ code: 7 });
    },
  );

  it('is remembered where the client made it, and told it to repeat a send in doubt', async () => {
    const steps = [reset, refusal(402, 'insufficient_credits')];
    const service = fakeService((_, index) => steps[index] as Reply);
    const line = 'sms send 99112233 hi --max-retries 0 --json';
    const first = await run(line, { ...service, home });
    const { idempotency_key: key } = JSON.parse(first.stderr).error;
    const again = await run(`${line} --idempotency-key ${key}`, { ...service, home });
    expect([first.code, again.code]).toEqual([6, 6]);
    expect(JSON.parse(again.stderr).error).toMatchObject({
      code: 'insufficient_credits',
      idempotency_key: key,
    });
  });

  it('sends once; the same message again is 0, and says that it is a replay', async () => {
    const service = binding();
    const first = await send('sms send 99112233 hi', service);
    expect(first.code).toBe(0);
    expect(first.result).not.toHaveProperty('replayed');
    const again = await send("sms send '+976 9911-2233' hi", service);
    expect(again).toMatchObject({ code: 0, result: { ...first.result, replayed: true } });
    expect(service.sent).toHaveLength(1);
    const { stderr } = await run('sms send 99112233 hi --idempotency-key k', { ...service, home });
    expect(stderr).toContain('nothing new was sent');
  });

  it.each([
    ['another text', 'sms send 99112233 ho', 'another message to the same recipient'],
    ['another recipient', 'sms send 88001122 hi', 'a message to 99112233'],
    ['another channel', 'email send bat@example.mn --subject s --text hi', 'a message to 99112233 by sms'],
  ])('that was used for %s is 11, and nothing is sent', async (_, line, what) => {
    const service = binding();
    expect(await send('sms send 99112233 hi', service)).toMatchObject({ code: 0 });
    const { code, result, error } = await send(line, service);
    expect({ code, result }).toEqual({ code: 11, result: null });
    expect(error).toMatchObject({ code: 'key_used', exit: 11, id: 'm-0', retryable: false });
    expect(error.message).toContain(what);
    expect(service.sent).toHaveLength(1);
    // The memory still says what the key was used for.
    expect(await send('sms send 99112233 hi', service)).toMatchObject({
      code: 0,
      result: { replayed: true },
    });
    expect(await send(line, service)).toMatchObject({ code: 11 });
  });

  it.each([
    ['sms send 88001122 hi', 'used for another message: nothing'],
    ['email send bat@example.mn --subject s --text hi', 'used for another message by sms: nothing'],
  ])('that was used for a message that was erased is not said to be of somebody: %s', async (line, what) => {
    const erased = { ...smsMessage(), id: 'm-0', to: '', balance: 990 };
    const service = binding((_, index) =>
      index === 1 ? { body: erased, headers: { 'Idempotency-Replayed': 'true' } } : null,
    );
    await send('sms send 99112233 hi', service);
    const { code, error } = await send(line, service);
    expect({ code, message: error?.message }).toEqual({ code: 11, message: expect.stringContaining(what) });
  });

  it('that was used for another recipient is 11 on a machine without a memory, too', async () => {
    const service = binding();
    await send('sms send 99112233 hi', service);
    rmSync(join(home, '.local'), { recursive: true });
    expect(await send('sms send 88001122 hi', service)).toMatchObject({ code: 11 });
    // Nobody can know the old text there.
    expect(await send('sms send 99112233 ho', service)).toMatchObject({
      code: 0,
      result: { replayed: true },
    });
  });

  it('hides recipients where they are masked', async () => {
    const service = binding();
    await send('sms send 99112233 hi', service);
    const { error } = await send('sms send 88001122 hi --mask', service);
    expect(error.message).not.toMatch(/99112233|88001122/);
  });

  it('is remembered from before the request: a lost answer, then another text, is 11', async () => {
    const lost = binding(undefined, (_, index) => (index === 0 ? reset : null));
    expect(await send('sms send 99112233 hi --max-retries 0', lost)).toMatchObject({ code: 6 });
    expect(await send('sms send 99112233 ho', lost)).toMatchObject({ code: 11 });
    expect(await send('sms send 99112233 hi', lost)).toMatchObject({ code: 0, result: { replayed: true } });
  });

  it('is free again after a refusal', async () => {
    const service = binding((_, index) => (index === 0 ? refusal(400, 'invalid_request') : null));
    expect(await send('sms send 99112233 hi', service)).toMatchObject({ code: 8 });
    expect(await send('sms send 99112233 ho', service)).toMatchObject({
      code: 0,
      result: { to: '99112233' },
    });
    expect((await send('sms send 99112233 ho', service)).result).toMatchObject({ replayed: true });
    expect(await send('sms send 99112233 hi', service)).toMatchObject({ code: 11 });
  });

  it('is no replay when the answer to its own first attempt was lost', async () => {
    const service = binding(undefined, (_, index) => (index === 0 ? reset : null));
    const { code, result } = await send('sms send 99112233 hi', service);
    expect(code).toBe(0);
    expect(result).not.toHaveProperty('replayed');
    expect(service.sent).toHaveLength(1);
  });

  it('of two messages without an answer is in doubt: nobody knows which of them was sent', async () => {
    const lost = binding();
    const away = binding(() => reset);
    expect(await send('sms send 99112233 hi --max-retries 0', away)).toMatchObject({ code: 6 });
    expect(await send('sms send 99112233 ho', { ...lost, fetch: flaky(lost) })).toMatchObject({
      code: 6,
      error: { code: 'key_used', exit: 6 },
    });
  });

  it('is another one in another project, and behind another base URL', async () => {
    const one = binding();
    const two = binding(undefined, undefined, 'n');
    const env = { URTUU_API_KEY: 'a-key-of-another-project' };
    expect(await send('sms send 99112233 hi', one)).toMatchObject({ code: 0 });
    expect(await send('sms send 99112233 ho', two, { env })).toMatchObject({ code: 0 });
    expect(await send('sms send 99112233 hi', one)).toMatchObject({ code: 0, result: { replayed: true } });
    expect(await send('sms send 99112233 ho', two, { env })).toMatchObject({
      code: 0,
      result: { replayed: true },
    });
    expect(await send('sms send 99112233 ho', one)).toMatchObject({ code: 11, error: { id: 'm-0' } });
    expect(await send('sms send 99112233 hi', two, { env })).toMatchObject({
      code: 11,
      error: { id: 'n-0' },
    });
  });

  it('is of its project under another API key: another text is 11, the same one is a replay', async () => {
    const one = binding(undefined, (_, index) => (index === 0 ? reset : null));
    const env = { URTUU_API_KEY: 'another-key-of-the-project' };
    expect(await send('sms send 99112233 hi --max-retries 0', one)).toMatchObject({ code: 6 });
    expect(await send('sms send 99112233 ho', one, { env })).toMatchObject({
      code: 11,
      error: { code: 'key_used', exit: 11 },
    });
    const { code, result } = await send('sms send 99112233 hi', one, { env });
    expect({ code, result }).toMatchObject({ code: 0, result: { replayed: true } });
    expect(one.sent).toHaveLength(1);
  });

  it('of which another API key got no answer is in doubt after a refusal, until one resolves it', async () => {
    const lost = binding(undefined, (_, index) => (index === 0 ? reset : null));
    const steps = [
      refusal(402, 'insufficient_credits'),
      refusal(502, 'provider_failed', { id: 'm-9' }),
      refusal(402, 'insufficient_credits'),
    ];
    const other = binding((_, index) => steps[index] as Reply);
    const env = { URTUU_API_KEY: 'another-key-of-the-project' };
    const line = 'sms send 99112233 hi --max-retries 0';
    expect(await send(line, lost)).toMatchObject({ code: 6 });
    expect(await send(line, other, { env })).toMatchObject({
      code: 6,
      error: { code: 'insufficient_credits', idempotency_key: 'k', retryable: true },
    });
    expect(await send(line, other, { env })).toMatchObject({ code: 9 });
    expect(await send(line, other, { env })).toMatchObject({ code: 7 });
  });

  it('is remembered for its service, whatever the spelling of the base URL', async () => {
    const one = binding();
    const spelled = (baseUrl: string) => ({ env: { URTUU_API_KEY: 'k', URTUU_BASE_URL: baseUrl } });
    const [plain, other] = ['http://127.0.0.1:7788/v1', 'HTTP://127.1:7788/v1/'].map(spelled);
    expect(await send('sms send 99112233 hi', one, plain)).toMatchObject({ code: 0 });
    expect(await send('sms send 99112233 ho', one, other)).toMatchObject({ code: 11 });
  });

  it.each([
    ['an address in another spelling', 'bat@EXAMPLE.mn', 'bat@example.mn'],
    ['a domain in its ASCII form', 'bat@бат.mn', 'bat@xn--80ab6c.mn'],
  ])('is not taken for another by %s', async (_, given, answered) => {
    const body = emailResult({ to: answered });
    const service = fakeService(() => ({ body, headers: { 'Idempotency-Replayed': 'true' } }));
    const line = `email send ${given} --subject s --text t`;
    expect(await send(line, service)).toMatchObject({ code: 0, result: { replayed: true } });
  });

  it('takes an old answer that has lost its recipient', async () => {
    const body = smsResult({ to: '' });
    const service = fakeService(() => ({ body, headers: { 'Idempotency-Replayed': 'true' } }));
    const { code, result, error } = await send('sms send 99112233 hi', service);
    expect({ code, error }).toEqual({ code: 0, error: null });
    expect(result).toMatchObject({ to: '', replayed: true });
  });

  it('sends all the same where nothing can be remembered; -v says so', async () => {
    writeFileSync(join(home, '.local'), 'a file');
    const service = binding();
    const { code, stderr } = await run('sms send 99112233 hi --idempotency-key k -v', { ...service, home });
    expect(code).toBe(0);
    expect(stderr).toContain('cannot remember the key');
    expect(
      (await run('sms send 99112233 hi --idempotency-key k', { ...service, home })).stderr,
    ).not.toContain('remembered');
  });

  it('is not remembered when the client makes it', async () => {
    await run('sms send 99112233 hi', { ...binding(), home });
    expect(() => readFileSync(join(home, '.local/state/urtuu/used-keys'))).toThrow('ENOENT');
  });
});

/** Loses the first answer of a command, after the service took the request. */
function flaky({ fetch }: FakeService): FakeService['fetch'] {
  let count = 0;
  return async (url, init) => {
    const answer = await fetch(url, init);
    count += 1;
    if (count === 1) throw reset;
    return answer;
  };
}

describe('a key that the client makes', () => {
  it.each([
    ['recipient', { to: '88001122' }],
    ['channel', { channel: 'email' }],
  ])('whose answer has another %s leaves the send in doubt, with its key', async (_, wrong) => {
    const service = fakeService(() => ({ body: { ...smsResult(), ...wrong } }));
    const { code, stdout, stderr } = await run('sms send 99112233 hi --json', service);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    const { error } = JSON.parse(stderr);
    const key = service.requests[0]?.headers['Idempotency-Key'];
    expect(error).toMatchObject({
      code: 'unexpected_response',
      exit: 6,
      idempotency_key: key,
      retryable: true,
    });
    expect(error.hint).toContain(`--idempotency-key ${key}`);
  });

  it('is not called used when its own first attempt was answered late', async () => {
    let count = 0;
    const service = fakeService(() => {
      count += 1;
      return count === 1 ? reset : { body: smsResult(), headers: { 'Idempotency-Replayed': 'true' } };
    });
    const { code, stdout, stderr } = await run('sms send 99112233 hi', service);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('replayed');
  });
});
