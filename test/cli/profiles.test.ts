import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingsOf } from '../../src/cli/config/settings.js';
import { defaultBaseUrl } from '../../src/contract/index.js';
import { FakeProject } from '../support/fake-project.js';
import { emptyFolder } from '../support/folders.js';
import { answers, fakeService, fullOutput, refusal, run, testKey } from '../support/run.js';
import { saying } from '../support/saying.js';

const home = emptyFolder();

const file = () => join(home, '.config', 'urtuu', 'config.json');
const balance = () => fakeService(() => ({ body: { balance: 1 } }));
const store = (config: object, mode = 0o600) => {
  mkdirSync(join(home, '.config', 'urtuu'), { recursive: true });
  writeFileSync(file(), JSON.stringify(config));
  chmodSync(file(), mode);
};
const work = { base_url: 'https://work.example.mn/v1', api_key: testKey };

describe('urtuu login', () => {
  it('keeps a key from standard input in a private file, and asks nothing', async () => {
    const service = balance();
    const line = 'login --api-key-file - --base-url https://work.example.mn/v1 --profile work --json';
    const { code, stdout, stderr } = await run(line, { ...service, home, env: {}, stdin: `${testKey}\n` });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'work', key: 'stored', current: true });
    expect(stdout + stderr).not.toContain(testKey);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ current: 'work', profiles: { work } });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, '.config', 'urtuu')).mode & 0o777).toBe(0o700);
    expect(service.requests[0]?.headers.Authorization).toBe(`Bearer ${testKey}`);
  });

  it('keeps a key that may not read, and whoami shows it without a balance', async () => {
    const service = fakeService(() => refusal(403, 'forbidden'));
    const login = 'login --api-key-file - --profile work';
    expect(await run(login, { ...service, home, env: {}, stdin: testKey })).toMatchObject(
      saying(0, 'This key cannot read'),
    );
    const shown = await run('whoami --json', { ...service, home, env: {} });
    expect([shown.code, JSON.parse(shown.stdout)]).toMatchObject([0, { profile: 'work', balance: null }]);
  });

  it('says that the profile is saved where its output is lost', async () => {
    const given = { ...balance(), home, env: {}, stdin: testKey, stdout: fullOutput() };
    expect(await run('login --api-key-file - --profile work', given)).toMatchObject(
      saying(13, 'The profile work was saved.'),
    );
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({ current: 'work' });
  });

  it('asks for the key unseen on a terminal, and nowhere else', async () => {
    const questions = answers(testKey);
    expect(await run('login', { ...balance(), home, env: {}, terminal: 100, questions })).toMatchObject({
      code: 0,
    });
    expect(questions.asked).toEqual(['API key for http://127.0.0.1:7788/v1:']);
    expect(await run('login', { ...balance(), env: {} })).toMatchObject(saying(2, '--api-key-file'));
  });

  it('keeps what other commands save and remove while it asks', async () => {
    const saved = { base_url: 'https://new.example.mn/v1', api_key: testKey };
    store({ current: 'work', profiles: { work, old: work } });
    const questions = answers(testKey);
    const given = { ...balance(), home, env: {}, terminal: 100 };
    questions.secret = async () => {
      const line = 'login --profile new --use --base-url https://new.example.mn/v1 --api-key-file -';
      expect(await run(line, { ...balance(), home, env: {}, stdin: testKey })).toMatchObject({ code: 0 });
      expect(await run('logout --profile old --yes', { home, env: {} })).toMatchObject({ code: 0 });
      return testKey;
    };
    const line = 'login --profile slow --base-url https://work.example.mn/v1';
    expect(await run(line, { ...given, questions })).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      current: 'new',
      profiles: { work, new: saved, slow: work },
    });
  });

  it.each(['', '  ', 'two words'])('asks again for an answer that is no key: %j', async (answer) => {
    const questions = answers(answer);
    // The question of the terminal asks until its check says yes.
    await expect(
      run('login', { ...balance(), home, env: {}, terminal: 100, questions }).then(({ stderr }) => stderr),
    ).resolves.toMatch(/refused: /);
  });

  it('leaves the profile in use alone, but for the first one and with --use', async () => {
    const setting = { ...balance(), home, env: {}, stdin: testKey };
    const current = () => JSON.parse(readFileSync(file(), 'utf8')).current;
    const login = (line: string) => run(`login --api-key-file - ${line}`, setting);
    await login('--profile a --base-url https://a.example.mn/v1');
    expect(current()).toBe('a');
    const { stderr } = await login('--profile b --base-url https://b.example.mn/v1');
    expect(current()).toBe('a');
    expect(stderr).toBe('Profile a stays in use. To use this one: urtuu profiles use b\n');
    expect((await login('--profile b --use')).stderr).toBe('');
    expect(current()).toBe('b');
    // Without a name it is about the profile in use, unless it names another address.
    const { stdout } = await login('--json');
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'b',
      base_url: 'https://b.example.mn/v1',
      current: true,
    });
    expect(JSON.parse((await login('--base-url https://c.example.mn/v1 --json')).stdout)).toMatchObject({
      name: 'default',
      current: false,
    });
  });

  it.each([
    [
      'another service',
      'https://other.example.mn/v1',
      'Replace profile work, which is for https://work.example.mn/v1?',
    ],
    ['the same service', 'https://work.example.mn/v1', null],
  ])('asks on a terminal before the key of a service is replaced by that of %s', async (_, url, question) => {
    store({ current: 'work', profiles: { work } });
    const login = async (...given: (string | boolean)[]) => {
      const questions = answers(...given);
      const setting = { ...balance(), home, env: {}, terminal: 100, questions };
      const { code } = await run(`login --profile work --base-url ${url}`, setting);
      return { code, asked: questions.asked };
    };
    const forKey = `API key for ${url}:`;
    if (question !== null) {
      expect(await login(false)).toEqual({ code: 2, asked: [question] });
      expect(JSON.parse(readFileSync(file(), 'utf8')).profiles).toEqual({ work });
    }
    expect(await login(...(question === null ? [] : [true]), 'other')).toEqual({
      code: 0,
      asked: [...(question === null ? [] : [question]), forKey],
    });
    expect(JSON.parse(readFileSync(file(), 'utf8')).profiles.work).toMatchObject({
      base_url: url,
      api_key: 'other',
    });
  });

  it.each([undefined, 100])(
    'only says whose key a file replaces, on a terminal too: %s',
    async (terminal) => {
      store({ current: 'work', profiles: { work } });
      const line = 'login --profile work --api-key-file - --base-url https://other.example.mn/v1';
      const setting = { ...balance(), home, env: {}, stdin: 'other', ...(terminal ? { terminal } : {}) };
      const { code, stderr } = await run(line, setting);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: 'Replacing profile work, which was for https://work.example.mn/v1.\n',
      });
    },
  );

  it('keeps who gets mail for names without a domain', async () => {
    const project = new FakeProject();
    const setting = { fetch: project.service.fetch, home, env: {} };
    const login = (line: string) => run(`login --api-key-file - ${line}`, { ...setting, stdin: testKey });
    expect(await login('--local-to ops')).toMatchObject({ code: 2 });
    await login('--local-to ops@example.mn');
    await login('');
    expect(JSON.parse((await run('profiles show --json', setting)).stdout)).toMatchObject({
      local_to: 'ops@example.mn',
    });
    const mail = { ...setting, stdin: 'To: root\nSubject: s\n\nhi\n' };
    expect(await run('sendmail -t', mail)).toMatchObject({ code: 0 });
    expect(await run('sendmail -t --local-to root@example.mn', mail)).toMatchObject({ code: 0 });
    expect(project.sends.map(({ body }) => body?.to)).toEqual(['ops@example.mn', 'root@example.mn']);
  });

  it('keeps no key that the service refuses, but one it cannot try', async () => {
    const refused = fakeService(() => refusal(401, 'unauthorized'));
    const setting = { home, env: {}, stdin: testKey };
    expect(await run('login --api-key-file -', { ...setting, ...refused })).toMatchObject({ code: 4 });
    expect(() => statSync(file())).toThrow('ENOENT');
    const down = fakeService(() => new Error('down'));
    const later = await run('login --api-key-file - --max-retries 0', { ...setting, ...down });
    expect(later).toMatchObject(saying(0, 'could not be checked'));
    expect(statSync(file()).isFile()).toBe(true);
  });

  it('can keep a command in place of the key', async () => {
    const service = balance();
    const argv = ['login', '--key-command', `printf '%s\\nmore' ${testKey}`];
    expect(await run('', { argv, ...service, home, env: {} })).toMatchObject({ code: 0 });
    expect(readFileSync(file(), 'utf8')).toContain('key_command');
    expect(await run('balance', { ...service, home, env: {} })).toMatchObject({ code: 0 });
    expect(service.requests[1]?.headers.Authorization).toBe(`Bearer ${testKey}`);
  });

  it('says why a --key-command fails, and names no profile before there is one', async () => {
    const argv = ['login', '--key-command', 'echo "no such entry" >&2; exit 1'];
    const { code, stderr } = await run('', { argv, ...balance(), home, env: {} });
    expect(code).toBe(4);
    expect(stderr).toContain('--key-command failed: no such entry\n');
    expect(stderr).not.toContain('profile');
    expect(() => statSync(file())).toThrow('ENOENT');
  });

  it('never shows what a failing key_command printed', async () => {
    store({ current: 'a', profiles: { a: { key_command: `echo ${testKey}; echo ${testKey} >&2; false` } } });
    for (const line of ['balance', 'balance -v --json', 'doctor']) {
      const { code, stdout, stderr } = await run(line, { home, env: {} });
      expect(code).toBe(4);
      expect(stdout + stderr).not.toContain(testKey);
    }
  });

  it('refuses plain http beyond this machine unless it is allowed', async () => {
    const setting = { ...balance(), home, env: {}, stdin: testKey };
    const line = 'login --api-key-file - --base-url http://sms.example.mn/v1';
    expect(await run(line, setting)).toMatchObject({ code: 2 });
    expect(await run(`${line} --allow-http`, setting)).toMatchObject({ code: 0 });
    expect(await run('balance', { ...balance(), home, env: {} })).toMatchObject({ code: 0 });
  });
});

describe('a config file', () => {
  it('that others can read is refused with 13, and its key is not sent', async () => {
    store({ current: 'work', profiles: { work } }, 0o640);
    const service = balance();
    expect(await run('balance', { ...service, home, env: {} })).toMatchObject(saying(13, 'chmod 600'));
    expect(service.requests).toEqual([]);
  });

  it.each([
    '{',
    '[]',
    '{"profiles": []}',
    '{"profiles": {"a": {"api_key": 7}}}',
    `{"profiles": {"a b": {}}}`,
  ])('that is damaged is refused without quoting it: %s', async (text) => {
    store({});
    writeFileSync(file(), text.replace('{', `{"x": "${testKey}", `));
    const { code, stdout, stderr } = await run('balance', { home, env: {} });
    expect(code).toBe(13);
    expect(stdout + stderr).not.toContain(testKey);
  });
});

describe('a stored key', () => {
  const elsewhere = 'https://evil.example.mn/v1';
  const command = { base_url: work.base_url, key_command: 'echo key' };
  const lines = ['balance', 'sms send 99112233 hi', 'whoami', 'api get balance', 'messages list', 'doctor'];

  it.each([
    ...lines.map((line) => [line, ` --base-url ${elsewhere}`, {}, work] as const),
    ...lines.map((line) => [line, '', { URTUU_BASE_URL: elsewhere }, work] as const),
    ['balance', ` --profile work --base-url ${elsewhere}`, { URTUU_API_KEY: testKey }, work],
    ['balance', '', { URTUU_BASE_URL: elsewhere }, command],
    ['balance', '', { URTUU_BASE_URL: 'https://work.example.mn:8443/v1' }, work],
    ['balance', '', { URTUU_BASE_URL: 'https://work.example.mn/other' }, work],
    ['balance', '', { URTUU_BASE_URL: 'https://work.example.mn.evil.mn/v1' }, work],
  ] as const)(
    'goes only to the base URL of its profile, not by %s%s %j',
    async (line, more, env, profile) => {
      store({ current: 'work', profiles: { work: profile } });
      const service = balance();
      const { code, stdout, stderr } = await run(line + more, { ...service, home, env });
      expect(code).toBe(2);
      expect(stdout + stderr).toContain(`the key of profile work is for ${work.base_url}, not for https://`);
      expect(service.requests).toEqual([]);
    },
  );

  it.each([{ api_key: testKey }, { key_command: `echo ${testKey}` }])(
    'without a base URL is for the default one: %j',
    async (profile) => {
      store({ current: 'work', profiles: { work: profile } });
      const service = balance();
      const { code, stderr } = await run('balance', { ...service, home, env: { URTUU_BASE_URL: elsewhere } });
      expect(code).toBe(2);
      expect(stderr).toContain(`the key of profile work is for ${defaultBaseUrl}, not for ${elsewhere}`);
      expect(service.requests).toEqual([]);
      expect((await run('balance', { ...service, home, env: {} })).code).toBe(0);
      const env = { URTUU_BASE_URL: defaultBaseUrl };
      expect((await run('balance', { ...service, home, env })).code).toBe(0);
    },
  );

  it.each(['https://WORK.example.mn/v1', 'https://work.example.mn:443/v1/', 'HTTPS://work.example.mn/v1//'])(
    'goes to the base URL of its profile in another spelling: %s',
    async (url) => {
      store({ current: 'work', profiles: { work } });
      const { code } = await run('balance', { ...balance(), home, env: { URTUU_BASE_URL: url } });
      expect(code).toBe(0);
    },
  );

  it('leaves an address to the key that is given for it', async () => {
    store({ current: 'work', profiles: { work } });
    const env = { URTUU_BASE_URL: elsewhere, URTUU_API_KEY: testKey };
    expect((await run('balance', { ...balance(), home, env })).code).toBe(0);
    const stdin = { ...balance(), home, env: {}, stdin: testKey };
    expect((await run(`balance --api-key-file - --base-url ${elsewhere}`, stdin)).code).toBe(0);
  });

  it.each(['balance', 'login --profile work --api-key-file -'])(
    'of a profile that allows plain http allows it to its own base URL only: %s',
    async (line) => {
      const plain = { base_url: 'http://10.0.0.1/v1', allow_http: true, api_key: testKey };
      store({ current: 'work', profiles: { work: plain } });
      const setting = { ...balance(), home, stdin: testKey };
      const elsewhere = { URTUU_BASE_URL: 'http://10.0.0.2/v1', URTUU_API_KEY: testKey };
      expect(await run(line, { ...setting, env: elsewhere })).toMatchObject(saying(2, 'is plain http'));
      expect((await run(line, { ...setting, env: { URTUU_BASE_URL: 'http://10.0.0.1:80/v1/' } })).code).toBe(
        0,
      );
    },
  );
});

describe('profiles', () => {
  const other = { base_url: 'https://other.example.mn/v1', api_key: 'other' };

  it.each(['profiles use home', 'profiles show home', 'balance --profile home'])(
    'names the login that makes the missing one, and replaces none: %s',
    async (line) => {
      store({ current: 'work', profiles: { work, other } });
      expect(await run(line, { home, env: {} })).toMatchObject(
        saying(2, /Profiles: work, other\. Create it with:\s+urtuu login --profile home\n$/),
      );
    },
  );

  it('are listed, chosen and shown, never with the key', async () => {
    store({ current: 'work', profiles: { work, other } });
    const list = await run('profiles list --json', { home });
    expect(JSON.parse(list.stdout)).toMatchObject([
      { name: 'work', current: true, key: 'stored' },
      { name: 'other', current: false },
    ]);
    expect(await run('profiles use other', { home })).toMatchObject({ code: 0 });
    const show = await run('profiles show', { home });
    expect(show.stdout).toContain('https://other.example.mn/v1');
    expect(list.stdout + show.stdout).not.toContain(testKey);
    expect(await run('profiles use nobody', { home })).toMatchObject({ code: 2 });
    expect(await run('balance --profile nobody', { home })).toMatchObject({ code: 2 });
  });

  it('are removed by logout only with the key that was there when it asked', async () => {
    const other = { ...work, api_key: `${testKey.slice(0, -1)}x` };
    const questions = answers();
    const asking = (profiles: object) => {
      store({ current: 'work', profiles: { work, home: work } });
      questions.confirm = async () => {
        store({ current: 'home', profiles });
        return true;
      };
      return run('logout --profile work', { home, env: {}, terminal: 100, questions });
    };
    expect(await asking({ work: other, home: work })).toMatchObject(
      saying(2, 'profile work was changed by another command'),
    );
    expect(JSON.parse(readFileSync(file(), 'utf8')).profiles).toEqual({ work: other, home: work });
    for (const left of [
      { work, home: work, more: work },
      { home: work, more: work },
    ]) {
      expect(await asking(left)).toMatchObject({ code: 0 });
      expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
        current: 'home',
        profiles: { home: work, more: work },
      });
    }
  });

  it('are removed by logout, which asks unless told --yes', async () => {
    store({ current: 'work', profiles: { work, other } });
    expect(await run('logout', { home, env: {} })).toMatchObject({ code: 2 });
    const no = { home, env: {}, terminal: 100, questions: answers(false) };
    expect(await run('logout', no)).toMatchObject({ code: 2 });
    expect(readFileSync(file(), 'utf8')).toContain(testKey);
    expect(await run('logout --yes', { home, env: {} })).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ profiles: { other } });
  });
});

describe('settings', () => {
  const config = { current: 'work', profiles: { work, other: { base_url: 'https://other.example.mn/v1' } } };
  const env = { URTUU_API_KEY: 'env', URTUU_BASE_URL: 'https://env.example.mn/v1' };

  it.each([
    ['the profile', {}, {}, 'https://work.example.mn/v1', { kind: 'stored', key: testKey }],
    [
      'the environment over the profile',
      {},
      env,
      'https://env.example.mn/v1',
      { kind: 'environment', key: 'env' },
    ],
    [
      'a named profile over the environment',
      { profile: 'work' },
      env,
      'https://work.example.mn/v1',
      { kind: 'stored', key: testKey },
    ],
    [
      'the environment for what a named profile lacks',
      { profile: 'other' },
      env,
      'https://other.example.mn/v1',
      { kind: 'environment', key: 'env' },
    ],
    [
      'options over all',
      { baseUrl: 'https://o.example.mn/v1/', apiKeyFile: 'k' },
      env,
      'https://o.example.mn/v1',
      { kind: 'file', file: 'k' },
    ],
  ] as const)('take %s', (_, options, variables, baseUrl, key) => {
    expect(settingsOf(options, variables, config)).toMatchObject({ baseUrl, key });
  });

  it.each([
    ['http://127.0.0.1:7788/v1', true],
    ['http://localhost/v1', true],
    ['http://[::1]:1/v1', true],
    ['https://a.mn/v1', true],
    ['http://127.evil.mn/v1', false],
    ['http://localhost.evil.mn/v1', false],
    ['ftp://a.mn/v1', false],
    ['https://user:pass@a.mn/v1', false],
    ['not a url', false],
  ])('take %s as a base URL: %s', (baseUrl, allowed) => {
    const read = () => settingsOf({ baseUrl }, {}, { profiles: {} });
    if (allowed) expect(read().baseUrl).toBe(baseUrl);
    else expect(read).toThrow(expect.objectContaining({ exit: 2 }));
  });
});

it('a key in the environment that cannot be one is refused with 4, and not quoted', async () => {
  const { code, stderr } = await run('balance', { env: { URTUU_API_KEY: 'two words' } });
  expect([code, stderr]).toEqual([4, expect.not.stringContaining('two words')]);
});
