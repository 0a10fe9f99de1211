import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repeatWords } from '../../../src/cli/single/repeat.js';
import { testFolder } from '../../support/folders.js';
import { fakeService, run, words } from '../../support/run.js';

const send = ['sms', 'send', '99112233'];

describe('the command that repeats a send', () => {
  const key = ['--idempotency-key', 'k-1'];
  it.each<[string[], string[] | null]>([
    [
      [...send, 'hi'],
      [...send, 'hi', ...key],
    ],
    [
      [...send, "it's Бат"],
      [...send, "it's Бат", ...key],
    ],
    [
      [...send, 'hi', ...key],
      [...send, 'hi', ...key],
    ],
    [
      [...send, 'hi', '--idempotency-key=k-1'],
      [...send, 'hi', '--idempotency-key=k-1'],
    ],
    // Where it goes is said anew for every printed command.
    [
      [
        '--sandbox',
        '--profile',
        'work',
        ...send,
        'hi',
        '--base-url=https://a.mn/v1',
        '--api-key-file',
        'key',
      ],
      [...send, 'hi', ...key],
    ],
    [[...send, '--', '-10%'], null],
    // What standard input said is gone, and a terminal would show these in another way.
    [[...send, '-'], null],
    [[...send, 'two\nlines'], null],
    [[...send, 'hidden\u200b'], null],
    [[...send, `urtuu_${'A'.repeat(40)}`], null],
  ])('of %j is %j', (argv, words) => {
    expect(repeatWords(argv, 'k-1')).toEqual(words);
  });

  const lost = () => fakeService(() => Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
  const commandIn = (stderr: string) =>
    words(/urtuu sms send .*$/m.exec(stderr.replace(/^urtuu: .*$/m, ''))?.[0] ?? '');

  it('is printed where a send is in doubt, and repeats it under its key', async () => {
    const service = lost();
    const { stderr } = await run("sms send 99112233 'Сайн уу' --max-retries 0", service);
    const [, ...argv] = commandIn(stderr);
    const again = lost();
    await run('', { argv, ...again });
    expect(again.requests[0]).toMatchObject({ path: '/sms', body: service.requests[0]?.body });
    expect(again.requests[0]?.headers['Idempotency-Key']).toBe(
      service.requests[0]?.headers['Idempotency-Key'],
    );
  });

  it('reads the same file from another folder', async () => {
    const home = testFolder();
    writeFileSync(join(home, 'text.txt'), 'Сайн уу');
    const service = lost();
    const line = 'sms send 99112233 --text-file text.txt --max-retries 0';
    const { stderr } = await run(line, { ...service, cwd: home });
    const [, ...argv] = commandIn(stderr);
    const again = lost();
    await run('', { argv, ...again });
    expect(again.requests[0]?.body).toEqual({ to: '99112233', text: 'Сайн уу' });
  });

  it('names the base URL, profile or sandbox that another shell would not choose', async () => {
    const env = { URTUU_API_KEY: 'k', URTUU_BASE_URL: 'https://sms.example.mn/v1' };
    const { stderr } = await run('sms send 99112233 hi --max-retries 0', { ...lost(), env });
    expect(commandIn(stderr)).toEqual(expect.arrayContaining(['--base-url', 'https://sms.example.mn/v1']));
    const home = testFolder();
    const login = { home, env: {}, ...fakeService(() => ({ body: { balance: 1 } })) };
    writeFileSync(join(home, 'key'), 'a-key-of-a-profile');
    await run('login --profile work --api-key-file key', { ...login, cwd: home });
    const stored = await run('sms send 99112233 hi --max-retries 0', {
      home,
      env: { URTUU_PROFILE: 'work' },
      ...lost(),
    });
    expect(commandIn(stored.stderr)).toEqual(expect.arrayContaining(['--profile', 'work']));
    // Named there, the profile would lend its key, which was not the one.
    const both = { URTUU_PROFILE: 'work', URTUU_API_KEY: 'another-key' };
    expect(
      (await run('sms send 99112233 hi --max-retries 0', { home, env: both, ...lost() })).stderr,
    ).not.toContain('--profile');
  });

  it('is not printed where recipients are masked, or for programs', async () => {
    for (const line of ['sms send 99112233 hi --mask', 'sms send 99112233 hi --json']) {
      const { stderr } = await run(`${line} --max-retries 0`, lost());
      expect(stderr).toContain('Repeat it with --idempotency-key');
      expect(stderr).not.toContain('99112233');
    }
  });
});
