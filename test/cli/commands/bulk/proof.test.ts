import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProjectOptions } from '../../../support/fake-project.js';
import { printedIn } from '../../../support/printed-commands.js';
import { answers, refusal } from '../../../support/run.js';
import { desk } from './desks.js';

const me = '99112233';
const list = ['99000001,Бат', '99000002,Цэцэгмаа', '99000003,Ану', '99000001,Бат'];
const job = "sms bulk list.csv --text 'Сайн уу {name}' --yes";
const proof = `${job} --proof ${me}`;

/** A machine with a list of three people and a duplicate. */
function machine(options: ProjectOptions = {}) {
  const here = desk(list, options);
  const { project } = here;
  return {
    here,
    project,
    run: here.run.bind(here),
    /** What each request asked for. */
    texts: () => project.sends.map(({ body }) => body?.text),
    last: (stderr: string) => printedIn(stderr).at(-1)?.words ?? [],
    jobs: () => {
      const folder = join(here.home, '.local/state/urtuu/jobs');
      return existsSync(folder) ? readdirSync(folder) : [];
    },
  };
}

describe('a proof', () => {
  it('is the first and the longest message of its job, to its recipient alone', async () => {
    const { run, project, jobs, last } = machine();
    const { code, stdout, stderr } = await run(proof);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(project.sends.map(({ path, body }) => [path, body])).toEqual([
      ['/sms', { to: me, text: 'Сайн уу Бат' }],
      ['/sms', { to: me, text: 'Сайн уу Цэцэгмаа' }],
    ]);
    expect(project.sends.map(({ headers }) => headers['Urtuu-Class'])).toEqual(['bulk', 'bulk']);
    expect(stdout).toMatch(/^ROW {2}ID .*\n +2 {2}\S+ {2}sent .*\n +3 {2}\S+ {2}sent .*\n$/);
    expect(stderr).toContain(`Proof: 2 messages to ${me}, 20 credits. The job has not begun.`);
    expect(jobs()).toEqual([]);
    expect(await run('', { argv: last(stderr) })).toMatchObject({ code: 0 });
    expect(Object.fromEntries(project.received())).toEqual({
      [me]: 2,
      ...{ 99000001: 1, 99000002: 1, 99000003: 1 },
    });
    expect(await run(proof)).toMatchObject({ code: 11, stderr: expect.stringContaining('finished at') });
  });

  it.each([
    ['a constant text', "--text 'Hi'", ['Hi']],
    ['a row', "--text '{name}' --proof-row 3", ['Цэцэгмаа']],
  ])('of %s is one message', async (_, text, sent) => {
    const { run, texts } = machine();
    const result = await run(`sms bulk list.csv ${text} --yes --proof '+976 9911-2233'`);
    expect(result).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`1 message to ${me}, 10 credits`),
    });
    expect(texts()).toEqual(sent);
  });

  it('by email has the subject, the bodies, and the sender of its job', async () => {
    const { here, run, project } = machine();
    here.write('mails.csv', ['email,name', 'bat@example.mn,Бат', 'dorj@example.mn,Дорж & Ко']);
    const options = "--subject 'Dear {name}' --html '<p>{name}</p>' --from-name Shop --reply-to a@b.mn";
    const { code, stderr } = await run(`email bulk mails.csv ${options} --wait --yes --proof me@example.mn`);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const content = { to: 'me@example.mn', from_name: 'Shop', reply_to: 'a@b.mn' };
    expect(project.sends.map(({ body }) => body)).toEqual([
      { ...content, subject: 'Dear Бат', html: '<p>Бат</p>' },
      { ...content, subject: 'Dear Дорж & Ко', html: '<p>Дорж &amp; Ко</p>' },
    ]);
    expect(stderr).toContain('Proof: 2 messages to me@example.mn, 4 credits.');
  });

  it.each([
    ['is that of the row', '4', 'Ану'],
    ['is none of a duplicate', '5', 'list.csv:5: same recipient as line 2'],
    ['is none of the header', '1', 'list.csv:1: the job does not send this row'],
    ['is none beyond the end', '99', 'list.csv:99: the job does not send this row'],
    ['is none of a bad row', '6', 'list.csv:6: phone: "70" is not'],
    ['is none of a row that was left out', '7', 'list.csv:7: the job does not send this row'],
    ['is none of an excluded row', '3', 'list.csv:3: the job does not send this row'],
  ])('with --proof-row %s: %s', async (_, row, said) => {
    const { here, run, texts } = machine();
    const status = (line: string) => `${line},failed`;
    here.write('list.csv', ['phone,name,status', ...[...list, '70,Муу'].map(status), '99000009,Од,sent']);
    here.write('stop.csv', ['phone', '99000002']);
    const left = '--only failed --exclude stop.csv --skip-invalid';
    const result = await run(`${proof} ${left} --proof-row ${row}`);
    if (row === '4') expect([result.code, texts()]).toEqual([0, [`Сайн уу ${said}`]]);
    else {
      expect(result).toMatchObject({ code: 8, stderr: expect.stringContaining(said) });
      expect(texts()).toEqual([]);
    }
  });

  it.each<[string, string, number, string, ProjectOptions?]>([
    ['an option that needs it', `${job} --proof-row 2`, 2, '--proof-row needs --proof'],
    ['a row that is no number', `${proof} --proof-row x`, 2, 'whole number'],
    ['the option of a finished job', `${proof} --retry-failed`, 2, 'cannot be combined'],
    ['a recipient of another channel', `${job} --proof me@example.mn`, 8, '--proof: '],
    ['no answer to its question', proof.replace(' --yes', ''), 2, 'Add --yes'],
    ['a bad row', `${proof} --text 'Hi {nmae}'`, 8, 'unknown column {nmae}'],
    ['a job over its limit', `${proof} --max-credits 29`, 7, 'the job costs 30 credits'],
    ['a job that nobody can pay for', proof, 7, 'the job needs 30 credits', { credits: 25 }],
    ['a name of another plan', `${proof} --job july`, 11, 'the job july has another plan'],
    ['a name that is none', `${proof} --job july.2`, 2, 'not a job name'],
    ['a list that was sent to', `sms bulk list.csv --text July --yes --proof ${me}`, 11, 'finished at'],
    [
      'a job whose outcome is not known yet',
      `sms bulk list.csv --text July --job july --wait --yes --proof ${me}`,
      11,
      'the job july finished at',
    ],
    [
      'a job with what is left of a limit',
      `sms bulk some.csv --like july --text X --yes --proof ${me}`,
      7,
      '0 of the 30',
    ],
    ['an unfinished job', `sms bulk some.csv --text May --yes --proof ${me}`, 11, 'the unfinished job may'],
  ])('is refused as its job is: %s', async (_, line, exit, said, options = {}) => {
    const { here, run, project, texts } = machine();
    here.write('some.csv', ['phone', '99000001', '99000008']);
    if (exit === 11 || line.includes('--like')) {
      await run('sms bulk list.csv --text July --job july --max-credits 30 --yes');
      await run('sms bulk list.csv --text July --yes --again');
      project.balance = 0;
      await run('sms bulk list.csv --text May --job may --yes --allow-partial');
      project.balance = 1_000;
    }
    project.balance = options.credits ?? project.balance;
    const before = texts().length;
    const result = await run(line);
    expect({ said: result.stderr, code: result.code }).toEqual({
      said: expect.stringContaining(said),
      code: exit,
    });
    expect(texts()).toHaveLength(before);
  });

  it('is sent once: a repeat exits 11, with --if-finished ok 0, and --again or another text sends anew', async () => {
    const { run, texts, last } = machine();
    await run(proof);
    const { code, stdout, stderr } = await run(proof);
    expect({ code, stderr, lines: stdout.split('\n').length }).toMatchObject({
      code: 11,
      stderr: expect.stringMatching(
        /this proof was sent at [-\d: ]+; nothing was sent this time\n {2}Add --again/,
      ),
      lines: 4,
    });
    expect(last(stderr)).toEqual(expect.not.arrayContaining(['--proof', '--again']));
    expect(await run(`${proof} --if-finished ok`)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('2 of 2 messages to 99112233 had been sent before'),
    });
    expect(new Set(texts()).size).toBe(2);
    const replays = texts().length;
    const again = await run(`${proof} --again`);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('The job has not begun.') });
    expect(last(again.stderr)).not.toContain('--again');
    expect(await run(proof.replace('уу', 'байна уу'))).toMatchObject({ code: 0 });
    expect(texts()).toHaveLength(replays + 4);
  });

  it('of a job that is sent again keeps --again in the command of the job', async () => {
    const { here, run, last, project } = machine();
    await run(job);
    const other = await run(`${proof} --again`);
    expect(last(other.stderr)).toContain('--again');
    here.write('list.csv', ['phone,name', ...list.slice(0, 2), '99000007,Од']);
    const longer = await run(`${proof} --again`);
    expect(last(longer.stderr)).toContain('--again');
    expect(await run('', { argv: last(longer.stderr) })).toMatchObject({ code: 0 });
    expect(project.received().get('99000001')).toBe(2);
  });

  it('goes on after a crash between its messages, and sends none of them twice', async () => {
    const { run, project } = machine();
    project.options.instead = () => (project.sends.length === 2 ? new Error('ECONNRESET') : undefined);
    const lost = await run(`${proof} --max-retries 0`);
    expect(lost).toMatchObject({ code: 6, stdout: expect.stringContaining('sent') });
    expect(lost.stderr).toMatch(/It may have been sent. The same command sends nothing twice.\n$/);
    delete project.options.instead;
    expect(await run(proof)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('1 of 2 messages to 99112233 had been sent before'),
    });
    expect(project.received().get(me)).toBe(2);
  });

  it.each<[string, ProjectOptions, number, RegExp]>([
    [
      'fails',
      { failing: new Set([me]) },
      9,
      /2 of 2 messages to 99112233 not sent, and refunded. Send a new/,
    ],
    ['is over a cap', { capped: new Map([[me, 9]]) }, 5, /Nothing was sent. Try again in 20 s/],
    ['is unsupported', { unsupported: new Set([me]) }, 8, /unsupported_number/],
    [
      'cannot be paid for',
      { instead: ({ method }) => (method === 'POST' ? refusal(402, 'insufficient_credits') : undefined) },
      7,
      /insufficient_credits/,
    ],
    [
      'has a key that is gone',
      { instead: ({ method }) => (method === 'POST' ? refusal(401, 'unauthorized') : undefined) },
      4,
      /unauthorized/,
    ],
  ])('that %s ends as a single send does', async (_, options, exit, said) => {
    const { run, jobs } = machine(options);
    const { code, stderr } = await run(proof);
    expect({ code, stderr }).toEqual({ code: exit, stderr: expect.stringMatching(said) });
    expect(jobs()).toEqual([]);
  });

  it('that failed is sent anew by the printed command', async () => {
    const { run, project, last } = machine({ failing: new Set([me]) });
    const failed = await run(`${proof} --json`);
    expect(JSON.parse(failed.stdout)).toMatchObject([{ row: 2, status: 'failed', credits: 0 }, { row: 3 }]);
    expect(JSON.parse(failed.stderr).error).toMatchObject({
      code: 'not_sent',
      exit: 9,
      ids: [expect.any(String), expect.any(String)],
    });
    const { stderr } = await run(proof);
    expect(last(stderr)).toEqual(expect.arrayContaining(['--proof', me, '--again']));
    project.options.failing = new Set();
    expect(await run('', { argv: last(stderr) })).toMatchObject({ code: 0 });
    expect(project.received().get(me)).toBe(2);
  });

  it('of which one message failed exits 3', async () => {
    const { run, project } = machine();
    project.options.instead = () =>
      project.sends.length === 2 ? refusal(502, 'provider_failed', { id: 'gone' }) : undefined;
    expect(await run(proof)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('1 of 2 messages to 99112233 not sent, and refunded.'),
    });
  });

  it('says how many were sent where the second message meets a cap', async () => {
    const { run, project } = machine();
    project.options.instead = () =>
      project.sends.length === 2
        ? { ...refusal(429, 'recipient_rate_limited'), headers: { 'Retry-After': '540' } }
        : undefined;
    const { code, stdout, stderr } = await run(`${proof} --json`);
    expect([code, JSON.parse(stdout)]).toEqual([5, [expect.objectContaining({ row: 2, status: 'sent' })]]);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'recipient_rate_limited',
      hint: '1 of 2 messages sent. Try again in 9 min. The same command sends nothing twice.',
      retry_after: 540,
      retryable: true,
    });
  });

  it('meets the cap of the service with the third text in ten minutes', async () => {
    const { run } = machine();
    const codes = [];
    for (const word of ['one', 'two', 'three'])
      codes.push((await run(`sms bulk list.csv --text '${word} {name}' --yes --sandbox --proof ${me}`)).code);
    expect(codes).toEqual([0, 0, 5]);
  });

  it.each([
    ['refused', '99000001', '', [9, 9]],
    ['dropped before it is done', '99000011', '', [0, 11]],
    ['dropped after it is sent', '99000012', '', [0, 11]],
    ['dropped after it is sent, with one try', '99000012', '--max-retries 0', [6, 6, 11]],
    ['answered by another page, with one try', '99000015', '--max-retries 0', [6, 6, 0]],
    ['never known', '99000023', '--wait', [3, 3]],
    ['of no operator', '70112233', '', [8, 8]],
  ])(
    'in the sandbox to a number whose message is %s ends so, again and again',
    async (_, to, options, exits) => {
      const { run } = machine();
      const line = `sms bulk list.csv --text 'Hi {name}' --yes --sandbox --proof ${to} ${options}`;
      const ends = [];
      for (const expected of exits)
        ends.push(expected === (await run(line)).code ? expected : (await run(line)).stderr);
      expect(ends).toEqual(exits);
      const outbox = JSON.parse((await run('sandbox outbox --json')).stdout) as object[];
      expect(outbox).toHaveLength([0, 11, 3].includes(exits.at(-1) ?? 1) ? 2 : 0);
    },
  );

  it('asks before it sends, and prints what was answered', async () => {
    const { here, run, texts, last } = machine();
    const questions = answers('Hi {name}', false, 'Hi {name}', true);
    const setting = { terminal: 200, questions };
    const line = `sms bulk list.csv --proof ${me} --proof-row 4`;
    expect(await run(line, setting)).toMatchObject({ code: 2, stderr: expect.stringContaining('declined') });
    expect(texts()).toEqual([]);
    const { code, stderr } = await run(line, setting);
    expect([code, texts()]).toEqual([0, ['Hi Ану']]);
    expect(questions.asked[1]).toBe(
      `Send a proof of 1 message to ${me}, 10 credits? The job does not begin.`,
    );
    expect(stderr).toMatch(/Row 4 {7}to 99112233, 1 part\n {12}Hi Ану/);
    const file = join(here.home, 'list.csv');
    expect(last(stderr)).toEqual(['sms', 'bulk', file, '--text', 'Hi {name}']);
  });

  it.each([
    ['standard input', 'sms bulk list.csv --text - --yes --mask'],
    ['a number, masked', "sms bulk list.csv --text 'Call 99112299' --yes --mask"],
  ])('prints no command that cannot be typed again, or is masked: a text from %s', async (_, line) => {
    const { run } = machine();
    const { code, stderr } = await run(`${line} --proof ${me}`, { stdin: 'Hi' });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toMatch(
      /to 9911\*\*33, 10 credits. The job has not begun. To send the job, run the same command without --proof.\n$/,
    );
  });

  it('is shown by --dry-run, with the message of its row', async () => {
    const { run, texts } = machine();
    const people = await run(`${proof} --proof-row 4 --dry-run`);
    expect(people.stdout).toMatch(
      /\nProof {7}1 message to 99112233, 10 credits\nRow 4 {7}to 99112233, 1 part\n +Сайн уу Ану\n$/,
    );
    const programs = await run(`${proof} --dry-run --json`);
    const common = { to: me, channel: 'sms', kind: 'cyrillic', parts: 1, credits: 10 };
    expect([programs.code, JSON.parse(programs.stdout)]).toEqual([
      0,
      [
        { row: 2, ...common, size: 11 },
        { row: 3, ...common, size: 16 },
      ],
    ]);
    expect(texts()).toEqual([]);
  });
});
