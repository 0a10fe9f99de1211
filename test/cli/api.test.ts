import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeService, type Reply, refusal, run, testKey } from '../support/run.js';
import { CommandHome } from './command-home.js';

const home = new CommandHome();
const { here } = home;
beforeAll(() => home.open());
afterAll(() => home.close());

const echo = (reply: Reply = { body: { id: 'm', status: 'sent', to: '99112233' } }) =>
  fakeService(() => reply);

describe('urtuu api', () => {
  it('prints the body as the service wrote it', async () => {
    const text = '{"balance" :  7}';
    expect(await run('api GET /v1/balance', echo({ text }))).toMatchObject({ code: 0, stdout: `${text}\n` });
    const { stdout } = await here(`api get messages/${home.known.message}`);
    expect(JSON.parse(stdout)).toEqual(await home.json(`messages get ${home.known.message}`));
  });

  it('says of an unknown route how a base URL ends, and of an unknown id what to check', async () => {
    const unknown = () => fakeService(() => refusal(404, 'not_found'));
    const route = 'that the base URL ends in the version: https://sms.example.mn/v1\n';
    const id = 'Check the id';
    const env = { URTUU_API_KEY: testKey };
    for (const [line, base, hint] of [
      ['api GET nosuch', '/v1', route],
      ['whoami', '', route],
      ['balance', '/v1/sms', route],
      ['api POST /v1/sms -f to=99112233', '/v1/sms/bulk', route],
      ['messages get no-1', '', route],
      ['messages get no-1', '/v1', id],
      ['api GET /v1/messages/no-1', '/v1', id],
    ] as const) {
      const setting = { ...unknown(), env: { ...env, URTUU_BASE_URL: `https://sms.example.mn${base}` } };
      const { code, stderr } = await run(line, setting);
      expect([line, code, stderr]).toEqual([line, 12, expect.stringContaining(hint)]);
    }
    const login = 'login --api-key-file - --base-url https://sms.example.mn';
    const { code, stderr } = await run(login, { ...unknown(), env: {}, stdin: testKey });
    expect([code, stderr]).toEqual([12, expect.stringContaining(route)]);
    const embedded = await here('api GET /v1/nosuch --sandbox');
    expect(embedded).toMatchObject({ code: 12, stderr: expect.stringContaining('Check the path.') });
  });

  it.each(['v1/balance', '/v1/balance', 'balance'])('takes the path as %s', async (path) => {
    expect(await here(`api GET ${path}`)).toMatchObject({ code: 0 });
  });

  it.each([
    ['C:/Program Files/Git/v1/balance', 'balance'],
    ['D:\\msys64/v1/messages?to=99112233', 'messages?to=99112233'],
  ])('says of %s what was typed in Git Bash', async (written, path) => {
    const { code, stderr } = await run('', { ...echo(), argv: ['api', 'GET', written] });
    expect([code, stderr]).toEqual([
      2,
      `urtuu: Git Bash turned /v1/${path} into '${written}'\n  Leave out the first slash: v1/${path}\n`,
    ]);
  });

  it('prints status and headers with --include', async () => {
    const { stdout } = await here('api GET /v1/balance --include');
    expect(stdout).toMatch(
      /^HTTP 200\nContent-Type: application\/json\nX-Request-Id: \S+\n[\s\S]*\n\n\{"balance":\d+\}\n$/,
    );
  });

  it.each([
    ['GET', '-f status=failed -F limit=5', '/messages?status=failed&limit=5', null],
    ['GET', "-f to='+976 99112233'", '/messages?to=%2B976+99112233', null],
    [
      'POST',
      "-f to=99112233 -F n=1 -F 'l=[1]' -F b=true -f e=",
      '/messages',
      { to: '99112233', n: 1, l: [1], b: true, e: '' },
    ],
    ['POST', '', '/messages', {}],
  ])('%s takes fields: %s', async (method, fields, path, body) => {
    const service = echo();
    expect(await run(`api ${method} /v1/messages ${fields}`, service)).toMatchObject({ code: 0 });
    expect(service.requests).toMatchObject([{ method, path, body }]);
  });

  it('sends a body from standard input byte for byte, and headers', async () => {
    const service = echo();
    const stdin = '{ "to":"99112233",\n "text":"x"}\n';
    await run("api POST sms --input - -H 'X-Trace: 7' -H 'accept: text/plain'", { ...service, stdin });
    expect(service.requests[0]?.init.body).toBe(stdin);
    expect(service.requests[0]?.headers).toMatchObject({ 'X-Trace': '7', accept: 'text/plain' });
    expect(service.requests[0]?.headers).not.toHaveProperty('Accept');
  });

  it.each([
    'api GET /v1/../admin',
    'api GET /v1/%2e%2E/admin',
    'api GET /v1/./balance',
    'api GET ..',
    'api GET /balance',
    'api GET //elsewhere.example/v1/balance',
    'api GET https://elsewhere.example/v1/balance',
    'api GET http:balance',
    'api GET /v1/',
    "api GET '/v1/a b'",
    "api GET '/v1/a#b'",
    "api GET '/v1/a\\b'",
    'api DELETE /v1/balance',
    'api GET /v1/balance --input x',
    'api POST /v1/sms --input x -f a=b',
    'api POST /v1/sms -f a=b -f a=c',
    'api POST /v1/sms -F a=b',
    'api POST /v1/sms -f =b',
    "api GET /v1/balance -H 'Authorization: Bearer x'",
    "api GET /v1/balance -H 'Host: x'",
    "api POST /v1/sms -H 'Idempotency-Key: x'",
    'api POST /v1/verify --idempotency-key x',
    'api GET /v1/balance --columns id',
    'api',
  ])('%s is a usage error, and nothing is requested', async (line) => {
    const service = echo();
    expect(await run(line, service)).toMatchObject({ code: 2, stdout: '' });
    expect(service.requests).toEqual([]);
  });

  it('stays at the base URL of the profile', async () => {
    const service = fakeService(() => ({ body: {} }));
    const env = { URTUU_API_KEY: testKey, URTUU_BASE_URL: 'https://sms.example.mn/a/v1' };
    const urls: string[] = [];
    const fetch: typeof service.fetch = (url, init) => {
      urls.push(url);
      return service.fetch(url, init);
    };
    for (const path of ['/v1/balance?x=1', 'balance', 'https://sms.example.mn/a/v1/balance']) {
      await run(`api GET ${path}`, { env, fetch });
    }
    expect(await run('api GET https://sms.example.mn/b/v1/balance', { env, fetch })).toMatchObject({
      code: 2,
    });
    const at = 'https://sms.example.mn/a/v1/balance';
    expect(urls).toEqual([`${at}?x=1`, at, at]);
  });

  it.each([
    [400, 'invalid_request', 8],
    [401, 'unauthorized', 4],
    [402, 'insufficient_credits', 7],
    [404, 'not_found', 12],
    [502, 'provider_failed', 9],
    [503, 'unavailable', 6],
  ])('a POST that is answered %i %s prints the body and ends with %i', async (status, code, exit) => {
    const result = await run(
      'api POST /v1/sms -f to=1 -f text=x --max-retries 0',
      echo(refusal(status, code)),
    );
    expect(result.code).toBe(exit);
    expect(JSON.parse(result.stdout).error.code).toBe(code);
    expect(result.stderr).toMatch(/^urtuu: /);
  });

  it('repeats the four sends under one key, and no other POST', async () => {
    for (const [path, requests] of [
      ['sms', 3],
      ['email/bulk', 3],
      ["'sms?trace=1'", 3],
      ['verify', 1],
      ['verify/x/check', 1],
    ] as const) {
      const service = fakeService(() => refusal(503, 'unavailable'));
      expect(await run(`api POST ${path} -f to=99112233`, service)).toMatchObject({ code: 6 });
      expect(service.requests).toHaveLength(requests);
      const keys = new Set(service.requests.map(({ headers }) => headers['Idempotency-Key']));
      expect(keys.size).toBe(1);
      expect(keys.has(undefined as never)).toBe(requests === 1);
    }
  });

  it('names the command that repeats a send in doubt, which sends it once', async () => {
    const doubt = await here('api POST /v1/sms -f to=99000012 -f text=hi --max-retries 0');
    expect(doubt.code).toBe(6);
    const [, key] = /--idempotency-key (\S+) --sandbox/.exec(doubt.stderr) ?? [];
    const again = await here(`api POST /v1/sms -f to=99000012 -f text=hi --idempotency-key ${key}`);
    expect(again.code).toBe(0);
    const outbox = await home.json('sandbox outbox --to 99000012');
    expect(outbox).toMatchObject([{ message_id: JSON.parse(again.stdout).id }]);
  });

  it('hides the key in whatever comes back, and in -v', async () => {
    const service = echo({ text: `{"seen": "${testKey}"}`, headers: { 'X-Request-Id': testKey } });
    const { stdout, stderr } = await run('api GET /v1/balance -i -v', service);
    expect(stdout).toContain('[API key]');
    expect(stdout + stderr).not.toContain(testKey);
  });

  it('makes control characters visible on a terminal only', async () => {
    const text = '{"a": "\u009b31m"}';
    expect((await run('api GET x', { ...echo({ text }), terminal: 80 })).stdout).not.toContain('\u009b');
    expect((await run('api GET x', echo({ text }))).stdout).toBe(`${text}\n`);
  });
});
