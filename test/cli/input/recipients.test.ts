import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../support/folders.js';
import { emailResult, smsResult, verification } from '../../support/resources.js';
import { answers, fakeService, run } from '../../support/run.js';

const numbers = [
  '99112233\r',
  '\u200e99112233\u200f',
  '9911\u00a02233',
  '９９１１２２３３',
  '(976) 9911-2233',
  '9911.2233',
  "'99112233",
  '+976\u20119911\u20132233',
];
const addresses = [
  'bat@example.mn\r\n',
  '\ufeffbat@example.mn',
  'bat@\u200bexample.mn',
  '\u00a0bat@example.mn ',
];

/** Every command with a recipient; `to` of its only request is what the service gets. */
const doors: [argv: (to: string) => string[], kind: 'number' | 'address'][] = [
  [(to) => ['sms', 'send', to, 'hi'], 'number'],
  [(to) => ['sms', 'send', '--to', to, '--text', 'hi'], 'number'],
  [(to) => ['verify', 'create', to], 'number'],
  [(to) => ['verify', 'create', '--to', to], 'address'],
  [(to) => ['email', 'send', to, '--subject', 's', '--text', 't'], 'address'],
  [(to) => ['messages', 'list', '--to', to], 'number'],
  [(to) => ['messages', 'list', '--to', to], 'address'],
];

const wanted = { number: '99112233', address: 'bat@example.mn' };
const service = (kind: 'number' | 'address') =>
  fakeService(({ path }) => {
    if (path.startsWith('/messages')) return { body: { data: [], next: null } };
    if (path === '/verify') return { body: verification({ to: wanted[kind] }) };
    return { body: kind === 'number' ? smsResult() : emailResult() };
  });

describe('a recipient', () => {
  it.each(
    doors.map(([argv, kind]): [string, (to: string) => string[], 'number' | 'address'] => [
      argv('TO').join(' '),
      argv,
      kind,
    ]),
  )('is repaired by `%s` as in a list', async (_, argv, kind) => {
    for (const written of kind === 'number' ? numbers : addresses) {
      const fake = service(kind);
      expect(await run('', { ...fake, argv: argv(written) })).toMatchObject({ code: 0 });
      const [{ body, path } = { body: null, path: '' }] = fake.requests;
      const sent = (body as { to: string } | null)?.to ?? new URL(path, 'http://x').searchParams.get('to');
      const digits = (to: string | null) => (kind === 'number' ? to?.replace(/[ -]|^\+?976/g, '') : to);
      expect(digits(digits(sent) ?? '')).toBe(wanted[kind]);
      expect(sent).toMatch(/^[\x20-\x7e]+$/);
    }
  });

  it.each(doors.map(([argv]) => [argv('TO').join(' '), argv] as const))(
    'that is none is refused by `%s`, which shows what cannot be seen',
    async (_, argv) => {
      const fake = service('number');
      const { code, stderr } = await run('', { ...fake, argv: argv('9911\u200e223x\u00a0') });
      expect([code, fake.requests]).toEqual([8, []]);
      expect(stderr).toContain('"9911\\u200e223x\\u00a0" is n');
    },
  );

  it('that the service reads is sent as it was written', async () => {
    const fake = service('number');
    await run('', { ...fake, argv: ['sms', 'send', '+976 9911-2233', 'hi'] });
    expect(fake.requests[0]?.body).toMatchObject({ to: '+976 9911-2233' });
  });

  it.each(['--to bat@gmail.соm --reply-to bat@example.mn', '--to bat@example.mn --reply-to bat@gmail.соm'])(
    'or an address for replies that mixes alphabets is refused alike by a dry run: %s',
    async (options) => {
      const words = ['email', 'send', '--subject', 's', '--text', 't', ...options.split(' ')];
      for (const argv of [words, [...words, '--dry-run']]) {
        const fake = service('address');
        const { code, stderr } = await run('', { ...fake, argv });
        expect([code, fake.requests]).toEqual([8, []]);
        // An earlier release may have sent to it.
        expect(stderr).toMatch(
          /"bat@gmail.соm" mixes letters of two alphabets.*\n {2}Nothing was sent this time\.\n$/,
        );
      }
    },
  );

  it.each(['bat@gmail.соm', 'bat@gmail.xn--m-0tbi\u200b'])(
    'that mixes alphabets, as an earlier release stored it, is searched for: %s',
    async (to) => {
      const fake = service('address');
      expect(await run('', { ...fake, argv: ['messages', 'list', '--to', to] })).toMatchObject({ code: 0 });
      expect(fake.requests[0]?.path).toContain('to=bat%40gmail.xn--m-0tbi');
    },
  );

  it('is repaired when it is typed at a prompt', async () => {
    const fake = service('number');
    const questions = answers('(976) 9911\u00a02233', 'hi');
    expect(await run('sms send', { ...fake, questions, terminal: 200 })).toMatchObject({ code: 0 });
    expect(fake.requests).toHaveLength(1);
  });

  it('is repaired in an address for replies: of a list, and of a project', async () => {
    const reply = '\u00a0bat@example.mn\u200e';
    const home = testFolder();
    writeFileSync(join(home, 'list.csv'), 'email\ndorj@example.mn\n');
    const words = ['email', 'bulk', 'list.csv', '--subject', 's', '--text', 't', '--yes', '--sandbox'];
    const argv = [...words, '--reply-to', reply];
    expect(await run('', { home, cwd: home, argv })).toMatchObject({ code: 0 });
    const [job = ''] = readdirSync(join(home, '.local/state/urtuu/jobs'));
    expect(readFileSync(join(home, '.local/state/urtuu/jobs', job, 'bodies'), 'utf8')).toContain(
      '"reply_to":"bat@example.mn"',
    );
    const set = (value: string) =>
      run('', { home, argv: ['sandbox', 'settings', 'set', 'reply_to', value, '--json'] });
    expect(JSON.parse((await set(reply)).stdout)).toMatchObject({ reply_to: 'bat@example.mn' });
    const refused = await set('nobody\u200e');
    expect([refused.code, refused.stderr]).toEqual([8, expect.stringContaining('nobody\\\\u200e')]);
    expect((await set('')).code).toBe(0);
  });

  it('is in its normal form in the history, however it was written', async () => {
    const home = testFolder();
    await run('', { home, argv: ['verify', 'create', '+976 9911\u00a02233', '--sandbox'] });
    const { stdout } = await run('history --json', { home });
    expect(JSON.parse(stdout)).toMatchObject([{ to: '99112233' }]);
  });

  it('is found in the history and the outbox however it is written', async () => {
    const home = testFolder();
    await run('sms send 99112233 hi --sandbox', { home });
    for (const line of ['history', 'sandbox outbox'])
      for (const written of numbers) {
        const { code, stdout } = await run('', {
          home,
          argv: [...line.split(' '), '--to', written, '--json'],
        });
        expect([line, written, code, JSON.parse(stdout).length]).toEqual([line, written, 0, 1]);
      }
    for (const line of ['history', 'sandbox outbox'])
      expect(await run('', { home, argv: [...line.split(' '), '--to', 'nobody\u200e'] })).toMatchObject({
        code: 8,
        stderr: expect.stringContaining('"nobody\\u200e" is neither'),
      });
  });
});
