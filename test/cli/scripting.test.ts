import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeService, refusal, run, testKey } from '../support/run.js';
import { CommandHome } from './command-home.js';

const home = new CommandHome();
const { here } = home;
beforeAll(() => home.open());
afterAll(() => home.close());

describe('--value', () => {
  it.each([
    ['balance --value balance', /^\d+\n$/],
    ['sms send 99112277 hi --value id', /^[0-9a-f-]{36}\n$/],
    ['sms send 99112277 hi --dry-run --value credits', /^10\n$/],
    ['pricing --value sms.max_parts', /^5\n$/],
    ['pricing --value max_parts', /^5\n$/],
    ['pricing --value email', /^\{"credits_per_message":2\}\n$/],
    ['sms bulk two.csv --text value --yes --value batches.0.id', /^[0-9a-f-]{36}\n$/],
    ['messages get MESSAGE --value error.code', /^\n$/],
    ['messages get MESSAGE nothing --value status', /^sent\nnot_found\n$/],
    ['messages list --to 99119001 --value to', /^(?:99119001\n)+$/],
    ['whoami --value key_source', /^sandbox\n$/],
  ])('%s prints the bare value', async (line, stdout) => {
    const setting = { cwd: home.path, env: { ...home.env, CI: 'true' } };
    const result = await here(line.replace('MESSAGE', home.known.message), setting);
    expect(result.stdout).toMatch(stdout);
  });

  it.each([
    ['sms send 99112233 hi --value idd', /unknown field 'idd'/],
    ['sms send 99112233 hi --value ""', /unknown field ''/],
    ['pricing --value sms.maxparts', /unknown field 'sms.maxparts'/],
    ['sandbox settings get --value caps.per_10_minute', /unknown field 'caps.per_10_minute'/],
    ['sms send 99112233 hi --value id --json', /cannot be combined with/],
    ['sms send 99112233 hi --value id -o csv', /cannot be combined with/],
    ['sms send 99112233 hi --value id --columns id', /cannot be combined with/],
    ['completion bash --value id', /no fields/],
  ])('%s is refused before anything is sent', async (line, stderr) => {
    const service = fakeService(() => refusal(500, 'unavailable'));
    expect(await run(line, service)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
    expect(service.requests).toEqual([]);
  });

  it('masks a recipient where that is asked for', async () => {
    expect((await here(`messages get ${home.known.message} --value to --mask`)).stdout).toBe('9911**33\n');
  });
});

describe('--array', () => {
  it('makes the JSON of one id an array, and changes nothing else', async () => {
    const { known } = home;
    for (const [line, id] of [
      ['messages get', known.message],
      ['batches get', known.batch],
    ] as const) {
      expect(await home.json(`${line} ${id} --array`)).toEqual([await home.json(`${line} ${id}`)]);
      const table = await here(`${line} ${id}`);
      expect((await here(`${line} ${id} --array`)).stdout).toBe(table.stdout);
    }
    expect(await here('messages get nothing --array --json')).toMatchObject({ code: 12, stdout: '[]\n' });
  });
});

describe('recipient and text as options', () => {
  const body = { to: '99112233', text: 'hi there' };
  it.each([
    "sms send 99112233 'hi there'",
    "sms send --to 99112233 --text 'hi there'",
    "sms send --to 99112233 'hi there'",
    "sms send 99112233 --text 'hi there'",
    "sms send --text 'hi there' 99112233",
    'sms send --to 99112233 --text -',
  ])('%s sends the same', async (line) => {
    const service = fakeService(() => ({ body: { id: 'm', status: 'sent', channel: 'sms', to: body.to } }));
    expect(await run(line, { ...service, stdin: 'hi there\n' })).toMatchObject({ code: 0 });
    expect(service.requests[0]?.body).toEqual(body);
  });

  it.each([
    'sms send --to 99112233 a b',
    'sms send 99112233 hi --text hi',
    'sms send --to 99112233 --text a b',
    'sms send --to 99112233 --text a --text-file b',
    'email send a@b.mn --to a@b.mn --subject s --text t',
    'verify create 99112233 --to 99112233',
  ])('%s is a usage error', async (line) => {
    const service = fakeService(() => refusal(500, 'unavailable'));
    expect(await run(line, service)).toMatchObject({ code: 2 });
    expect(service.requests).toEqual([]);
  });

  it('work for email and verification', async () => {
    expect((await here('email send --to bat@example.mn --subject s --text t --value to')).stdout).toBe(
      'bat@example.mn\n',
    );
    expect((await here('verify create --to 88112244 --value to')).stdout).toBe('88112244\n');
  });
});

describe('urtuu whoami', () => {
  const rich = () => fakeService(() => ({ body: { balance: 12_340 } }));

  it('shows profile, service, the beginning of the key and the balance', async () => {
    const env = { URTUU_API_KEY: testKey, URTUU_BASE_URL: 'https://sms.example.mn/v1' };
    const { stdout } = await run('whoami --json', { ...rich(), env });
    expect(JSON.parse(stdout)).toEqual({
      profile: 'default',
      base_url: 'https://sms.example.mn/v1',
      key: 'urtuu_AAAA...',
      key_source: 'URTUU_API_KEY',
      balance: 12_340,
    });
    expect((await run('whoami', { ...rich(), env })).stdout).toBe(
      'profile     default\nbase url    https://sms.example.mn/v1\nkey         urtuu_AAAA...\nkey source  URTUU_API_KEY\nbalance     12,340\n',
    );
  });

  it('shows what it knows where the service refuses the key, and little of a short one', async () => {
    const service = fakeService(() => refusal(401, 'unauthorized'));
    const { code, stdout } = await run('whoami --json', { ...service, env: { URTUU_API_KEY: 'shortkey' } });
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ key: 'sh...', balance: null });
    expect(await run('whoami', { env: {} })).toMatchObject({ code: 4, stdout: '' });
  });
});

describe('hints of the sandbox', () => {
  it('name the command that adds credits', async () => {
    await here('sandbox credit --set 5');
    const { code, stderr } = await here('sms send 88118812 hi');
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /it needs 10 credits, and 5 are left. Add credits with: urtuu sandbox credit 5000$/m,
    );
    await here('sandbox credit --set 1000');
  });

  it('are not those of a service elsewhere', async () => {
    const service = fakeService(() => refusal(429, 'recipient_rate_limited'));
    expect((await run('sms send 88118811 hi', service)).stderr).not.toContain('sandbox');
  });
});
