import { describe, expect, it } from 'vitest';
import { emailResult, pricing, smsResult } from '../support/resources.js';
import { answers, fakeService, fullOutput, refusal, run } from '../support/run.js';

const sms = smsResult();
const email = emailResult();

const accepting = (body: object = sms, headers = {}) => fakeService(() => ({ body, headers }));

describe('urtuu sms send', () => {
  it('sends the text of the argument, and prints the result', async () => {
    const service = accepting();
    const { code, stdout } = await run("sms send 99112233 'Сайн уу' --json", service);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(sms);
    expect(service.requests).toMatchObject([{ path: '/sms', body: { to: '99112233', text: 'Сайн уу' } }]);
  });

  it.each(["'+976 7011-2233'", '97670112233', '70112233'])(
    'knows its message by the number, of whichever operator of the service: %s',
    async (to) => {
      const service = accepting({ ...sms, to: '70112233' });
      const line = `sms send ${to} Hi --idempotency-key k1`;
      expect(await run(line, service)).toMatchObject({ code: 0 });
    },
  );

  it.each([
    ['-', { stdin: 'from a pipe\n' }],
    ['--text-file -', { stdin: 'from a pipe\r\n' }],
  ])('reads the text from standard input with %s, without its last line end', async (words, setting) => {
    const service = accepting();
    expect(await run(`sms send 99112233 ${words}`, { ...service, ...setting })).toMatchObject({ code: 0 });
    expect(service.requests[0]?.body).toMatchObject({ text: 'from a pipe' });
  });

  it('sends texts that look like options as they are', async () => {
    for (const [line, text] of [
      ['sms send 99112233 -- --json', '--json'],
      ['sms send -- 99112233 -10%', '-10%'],
    ] as const) {
      const service = accepting();
      expect(await run(line, service)).toMatchObject({ code: 0 });
      expect(service.requests[0]?.body).toMatchObject({ text });
    }
    const service = accepting(email);
    await run("email send bat@example.mn --subject -v --text '-very nice'", service);
    expect(service.requests[0]?.body).toMatchObject({ subject: '-v', text: '-very nice' });
    expect((await run('sms send -- --json')).stderr).toMatch(/^urtuu: missing: <text>\n/);
  });

  it('never sends anything when standard input is empty', async () => {
    const service = accepting();
    expect(await run('sms send 99112233 -', service)).toMatchObject({ code: 8 });
    expect(await run('sms send 99112233 --text-file -', service)).toMatchObject({ code: 8 });
    expect(await run("sms send 99112233 ' '", service)).toMatchObject({ code: 8 });
    expect(await run('sms send 99112233', service)).toMatchObject({ code: 2 });
    expect(service.requests).toEqual([]);
  });

  it('names every missing value at once where nobody can be asked', async () => {
    const { code, stderr } = await run('sms send');
    expect(code).toBe(2);
    expect(stderr).toContain('missing: <to>, <text>');
    expect((await run('email send')).stderr).toContain('missing: <to>, --subject, --text or --html');
  });

  it('asks for what is missing on a terminal', async () => {
    const service = accepting();
    const questions = answers('99112233', 'hello');
    expect(await run('sms send', { ...service, questions, terminal: 100 })).toMatchObject({ code: 0 });
    expect(questions.asked).toEqual(['Recipient number:', 'Text:']);
    expect(service.requests[0]?.body).toEqual({ to: '99112233', text: 'hello' });
  });

  it('passes the idempotency key on, and refuses one that cannot be one', async () => {
    const service = accepting();
    await run('sms send 99112233 hi --idempotency-key order-7', service);
    expect(service.requests[0]?.headers['Idempotency-Key']).toBe('order-7');
    expect(await run('sms send 99112233 hi --idempotency-key ключ', service)).toMatchObject({ code: 2 });
    expect(service.requests).toHaveLength(1);
  });

  it.each(['sms send 99112233 hi', 'verify create 99112233'])(
    'names where a redirect points, in doubt, and sends no second time: %s',
    async (line) => {
      const headers = { Location: 'https://login.example.mn/sign-in?next=secret' };
      const service = fakeService(() => ({ status: 307, headers, text: '' }));
      const { code, stderr } = await run(line, service);
      expect(code).toBe(6);
      expect(stderr).toContain('redirected to https://login.example.mn (a proxy, or a wrong base URL)');
      expect(stderr).not.toContain('secret');
      expect(service.requests).toHaveLength(1);
    },
  );

  it('has a dry run that prices without sending', async () => {
    const service = fakeService(() => ({ body: pricing }));
    const { code, stdout } = await run("sms send '+976 9911 2233' 'Сайн уу' --dry-run --json", service);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      to: '99112233',
      channel: 'sms',
      kind: 'cyrillic',
      size: 7,
      parts: 1,
      credits: 10,
    });
    expect(service.requests.map(({ path }) => path)).toEqual(['/pricing']);
  });

  it('has a dry run that goes without the price when the service cannot be reached', async () => {
    const { fetch } = fakeService(() => new Error('down'));
    const { code, stdout, stderr } = await run('sms send 99112233 hi --dry-run --json --max-retries 0', {
      fetch,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ parts: 1, credits: null });
    expect(stderr).toContain('the price is unknown');
  });

  it.each([
    ['99112233', 'x'.repeat(751), 'message_too_long'],
    ['99112233', 'ө'.repeat(301), 'message_too_long'],
    ['11223344', 'hi', 'unsupported_number'],
    ['nobody', 'hi', 'invalid_request'],
  ])('has a dry run that refuses what the service would refuse: %s', async (to, text, code) => {
    const result = await run('', { argv: ['sms', 'send', to, text, '--dry-run', '--json'] });
    expect(result.code).toBe(8);
    expect(JSON.parse(result.stderr).error.code).toBe(code);
  });
});

describe('urtuu email send', () => {
  const line = "email send bat@example.mn --subject Hi --text 'Сайн уу'";

  it('sends what its options say', async () => {
    const service = accepting(email);
    expect(await run(`${line} --from-name Ger --reply-to a@b.mn`, service)).toMatchObject({ code: 0 });
    expect(service.requests[0]).toMatchObject({
      path: '/email',
      body: { to: 'bat@example.mn', subject: 'Hi', text: 'Сайн уу', from_name: 'Ger', reply_to: 'a@b.mn' },
    });
    const html = accepting(email);
    await run("email send bat@example.mn --subject Hi --html '<p>x</p>'", html);
    expect(html.requests[0]?.body).toEqual({ to: 'bat@example.mn', subject: 'Hi', html: '<p>x</p>' });
  });

  it('waits with --wait until it is sent, and then shows that', async () => {
    const service = fakeService(({ method }, index) =>
      method === 'POST'
        ? { status: 202, body: email }
        : { body: { ...email, status: index > 2 ? 'sent' : 'queued' } },
    );
    const { code, stdout, slept } = await run(`${line} --wait --json`, service);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'sent', balance: email.balance });
    expect(slept).toBe(250 + 500 + 1000);
  });

  it('ends with 14 when --wait-timeout is over, and with 9 when it failed; the result is shown', async () => {
    const queued = accepting(email);
    const late = await run(`${line} --wait --wait-timeout 3s`, queued);
    expect(late).toMatchObject({ code: 14, slept: 3000 });
    expect(late.stdout).toContain('queued');
    const failed = fakeService(({ method }) => ({
      body:
        method === 'POST' ? email : { ...email, status: 'failed', error: { code: 'bounced', message: '' } },
    }));
    const lost = await run(`${line} --wait`, failed);
    expect(lost.code).toBe(9);
    expect(lost.stdout).toContain('bounced');
  });

  it('bears with reads that fail for a while', async () => {
    const service = fakeService(({ method }, index) =>
      method === 'POST'
        ? { status: 202, body: email }
        : index < 2
          ? refusal(503, 'unavailable')
          : { body: { ...email, status: 'sent' } },
    );
    expect(await run(`${line} --wait --max-retries 0`, service)).toMatchObject({ code: 0 });
  });
});

describe('a send whose outcome cannot be shown', () => {
  it.each([
    ['sms send 99112233 hi', sms, 'The message was accepted'],
    ['api POST /v1/sms -f to=99112233 -f text=hi', sms, 'The message was accepted'],
    ['api POST /v1/email/bulk -f subject=s', email, 'The batch was accepted'],
    ['api POST /v1/verify -f to=99112233', { ...sms, status: 'pending' }, 'The code was sent'],
    ['email send bat@example.mn --subject s --text t', email, 'The message was accepted'],
    ['verify create 99112233', { ...sms, status: 'pending' }, 'The code was sent'],
  ])('for want of room behind standard output says that it was made: %s', async (line, body, said) => {
    const service = accepting(body);
    const { code, stderr } = await run(line, { ...service, stdout: fullOutput() });
    expect(code).toBe(13);
    expect(stderr).toContain(`${said} as ${body.id}; do not send it again`);
    expect(stderr.match(/standard output/g)).toHaveLength(1);
    const json = await run(`${line} --json`, { ...accepting(body), stdout: fullOutput() });
    const { error } = JSON.parse(json.stderr);
    expect(error).toMatchObject({ exit: 13, id: body.id, errno: 'ENOSPC' });
    const key = service.requests[0]?.headers['Idempotency-Key'];
    if (key !== undefined) {
      expect(stderr).toContain(`Its idempotency key: ${key}.`);
      expect(error.idempotency_key).toEqual(expect.any(String));
    }
    expect(service.requests).toHaveLength(1);
  });

  it.each([
    [
      'a right code',
      'verify check v-1 123456',
      { ...sms, id: 'v-1', status: 'verified' },
      'The code is right',
    ],
    [
      'an answer of its own',
      'api POST /v1/sms -f to=99112233',
      {},
      'POST /sms was answered with 200; do not',
    ],
    ['a look-up', 'balance', { balance: 5 }, 'Make room on the disk.'],
    ['help', 'sms send --help', {}, 'Make room on the disk.'],
  ])('says so in one object for a program, exit 13: %s', async (_, line, body, said) => {
    for (const [words, read] of [
      [line, (text: string) => text],
      [`${line} --json`, (text: string) => JSON.parse(text).error.hint],
    ] as const) {
      const { code, stderr } = await run(words, { ...accepting(body), stdout: fullOutput() });
      expect([words, code, read(stderr)]).toEqual([words, 13, expect.stringContaining(said)]);
    }
  });

  it('warns of that beside another error', async () => {
    const refused = () => fakeService(() => refusal(402, 'insufficient_credits'));
    const line = 'api POST /v1/sms -f to=99112233';
    const setting = { stdout: fullOutput() };
    const { code, stderr } = await run(line, { ...refused(), ...setting });
    expect([code, stderr]).toEqual([7, expect.stringMatching(/^warning: standard output .*\nurtuu: /)]);
    const json = await run(`${line} --json`, { ...refused(), ...setting });
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { exit: 7 },
      warnings: ['standard output could not be written: ENOSPC'],
    });
  });

  it('for want of a right to read says that it was accepted, beside what is wrong', async () => {
    const service = fakeService(({ method }) =>
      method === 'POST' ? { body: email } : refusal(403, 'forbidden'),
    );
    const line = 'email send bat@example.mn --subject s --text t --wait -q';
    const { code, stderr } = await run(line, service);
    expect(code).toBe(14);
    expect(stderr).toContain(
      `the message was accepted as ${email.id}, and its outcome could not be read: about forbidden (forbidden)\n` +
        '  It is not in doubt: do not send it again. ' +
        `Look again with: urtuu messages get ${email.id} --wait\n`,
    );
    const json = await run(`${line} --json`, service);
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: 'forbidden', exit: 14, id: email.id, retryable: false, status: 403 },
    });
  });

  it('because it holds what cannot be written is in doubt, with its key', async () => {
    const service = accepting({ ...sms, created_at: { toString: 1, valueOf: 1 } });
    const { code, stderr } = await run('sms send 99112233 hi', service);
    expect(code).toBe(6);
    expect(stderr).toContain(`--idempotency-key ${service.requests[0]?.headers['Idempotency-Key']}`);
  });
});

describe('what a script passes by mistake, and nothing is sent', () => {
  it.each([
    'sms send 99112233 hi',
    'email send bat@example.mn --subject s --text t',
    'verify create 99112233',
    'verify check v 123456',
    'sms bulk list.csv --text hi --yes',
    'email bulk list.csv --subject s --text hi --yes',
  ])('is 2: `%s --columns` without names', async (line) => {
    const service = accepting();
    const { code, stdout, stderr } = await run(`${line} --columns`, service);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^(?:[a-z_]+\n)+$/);
    expect(stderr).toContain('nothing was sent');
    expect(service.requests).toEqual([]);
  });

  it.each([
    ['sms', 'send', '99112233', '\ufffd\ufffd'],
    ['email', 'send', 'bat@example.mn', '--subject', '\ufffd', '--text', 't'],
    ['sms', 'bulk', 'list.csv', '--text', 'a \ufffd', '--yes'],
  ])('is 8: bytes that are not UTF-8 (%s %s)', async (...argv) => {
    const service = accepting();
    const { code, stderr } = await run('', { ...service, argv });
    expect(code).toBe(8);
    expect(stderr).toMatch(/argument [45] of the command line is not UTF-8.*\n {2}Nothing was sent\./);
    expect(service.requests).toEqual([]);
  });

  it.each(["--profile ''", '--profile='])('is 2: an empty name of a profile (%s)', async (option) => {
    const service = accepting();
    const { code, stderr } = await run(`sms send 99112233 hi ${option}`, {
      ...service,
      argv: ['sms', 'send', '99112233', 'hi', ...(option.endsWith('=') ? [option] : ['--profile', ''])],
    });
    expect(code).toBe(2);
    expect(stderr).toContain('--profile');
    expect(service.requests).toEqual([]);
  });
});
