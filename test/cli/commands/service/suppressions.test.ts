import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../../support/folders.js';
import { run, type Setting } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';

/** The data of a sandbox, with a second project. */
async function desk() {
  const home = testFolder();
  const here = (line: string, setting: Setting = {}) =>
    run(line, { home, cwd: home, env: { URTUU_SANDBOX: '1' }, ...setting });
  const list = async (words = '') =>
    JSON.parse((await here(`service suppressions list --json ${words}`)).stdout) as Record<string, string>[];
  const write = (name: string, text: string | Buffer) => writeFileSync(join(home, name), text);
  await here('service projects create Shop');
  return { home, here, list, write };
}

describe('urtuu service suppressions add', () => {
  it('adds recipients as a list has them, and repeats change nothing', async () => {
    const { here, list } = await desk();
    const first = await here("service suppressions add '+976 9911-2233' Bold@Example.com --json");
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(first.stdout)).toEqual({ added: 2, already_there: 0, invalid: 0 });
    const again = await here('service suppressions add 99112233 bold@example.com 99112244 --reason opt_out');
    expect(again.stdout).toMatch(/1 +2 +0|added +1\n.*there +2\n/);
    expect(await list()).toMatchObject([
      { to: '99112244', reason: 'opt_out' },
      { to: 'bold@example.com', reason: 'manual' },
      { to: '99112233', reason: 'manual' },
    ]);
    expect(await list('--project Shop')).toEqual([]);
  });

  it.each([
    ['a column', 'name;Утас\nБат;99112233\nБат;+976 9911-2244\n', '--column утас', ['99112244', '99112233']],
    ['the only column, of a bare list', '99112233\r\nbat@ex.mn\r\n', '', ['bat@ex.mn', '99112233']],
    ['a repeat', 'phone\n99112233\n9911 2233\n', '', ['99112233']],
  ])('reads %s of a file', async (_, text, words, to) => {
    const { here, list, write } = await desk();
    write('left.csv', text);
    const { code, stdout } = await here(`service suppressions add --from-file left.csv ${words} --json`);
    expect(code).toBe(0);
    const rows = 2;
    expect(JSON.parse(stdout)).toEqual({ added: to.length, already_there: rows - to.length, invalid: 0 });
    expect((await list()).map((each) => each.to)).toEqual(to);
  });

  it('names every bad row and adds nothing, exit 8; --skip-invalid adds the others, exit 3', async () => {
    const { here, list, write } = await desk();
    write('left.csv', 'phone,note\n99112233,a\nabc,b\n9.91E+07,c\n');
    const line = 'service suppressions add bat@ex.mn --from-file left.csv --column phone';
    const { code, stderr } = await here(line);
    expect(code).toBe(8);
    expect(stderr).toContain('warning: left.csv:3: phone: "abc" is not a phone number\n');
    expect(stderr).toContain('left.csv:4: phone: "9.91E+07" has lost its last digits');
    expect(stderr).toMatch(
      /urtuu: 2 of 4 recipients are invalid; nothing was added\n {2}Fix them, or add the others with --skip-invalid\.\n$/,
    );
    expect(await list()).toEqual([]);
    const json = JSON.parse((await here(`${line} --json`)).stderr).error;
    expect(json).toMatchObject({
      code: 'bad_rows',
      exit: 8,
      invalid: 2,
      rows: [/abc/, /9.91E/].map((each) => expect.stringMatching(each)),
    });
    expect((await here(`${line} --mask`)).stderr).not.toContain('abc');
    expect(await here(`${line} --skip-invalid`)).toMatchObject(saying(3, '2 invalid recipients left out.'));
    expect((await list()).map((each) => each.to).sort()).toEqual(['99112233', 'bat@ex.mn']);
  });

  it.each([
    ['service suppressions add', 2, 'missing: <to>'],
    ['service suppressions add 99112233 --column phone', 2, '--column needs --from-file'],
    [
      'service suppressions add 99112233 --reason stop',
      2,
      "'stop' is not one of opt_out, unknown_recipient, manual",
    ],
    ['service suppressions add abc --skip-invalid', 8, '1 of 1 recipient is invalid; nothing was added'],
    ['service suppressions add --from-file two.csv', 8, 'Name it with --column. Columns: phone, email.'],
    ['service suppressions add --from-file two.csv --column tel', 8, 'unknown column tel'],
    ['service suppressions add --from-file none.csv', 8, 'none.csv is empty'],
    ['service suppressions add --from-file head.csv', 8, 'no recipients'],
    ['service suppressions add 99112233 --project None', 12, 'no project None'],
  ])('says what is missing or wrong: %s', async (line, code, said) => {
    const { here, write } = await desk();
    write('two.csv', 'phone,email\n99112233,a@ex.mn\n');
    write('none.csv', '');
    write('head.csv', 'phone\n');
    expect(await here(line)).toMatchObject(saying(code, said));
  });
});

describe('an address that opted out', () => {
  it('gets no email of a job, single sends of it included, but those of email send', async () => {
    const { here, write } = await desk();
    write('mail.csv', 'email,name\nbat@ex.mn,Bat\nsara@ex.mn,Sara\n');
    await here('service suppressions add bat@ex.mn --reason opt_out');
    for (const [text, kind] of [
      ['Hi', 'batch'],
      ['Hi {name}', 'single'],
    ]) {
      const { code, stderr } = await here(
        `email bulk mail.csv --subject s --text '${text}' --job ${kind} --yes --wait`,
      );
      expect(code).toBe(0);
      expect(stderr).toContain('Suppressed  1 of 2 is on the do-not-send list');
      expect(stderr).toContain('1 sent, 1 suppressed (on the do-not-send list).');
    }
    expect(await here('email send bat@ex.mn --subject s --text t --wait')).toMatchObject({ code: 0 });
  });
});

describe('the list of one project', () => {
  it.each(['csv', 'tsv'])('is added to another as it is, of any length: %s', async (format) => {
    const { here, list, write } = await desk();
    const numbers = Array.from({ length: 1_200 }, (_, at) => String(99_000_000 + at));
    write('left.csv', `to\n${numbers.join('\n')}\n`);
    await here('service suppressions add --from-file left.csv');
    await here(
      'service suppressions add =a@ex.mn -b@ex.mn --reason opt_out'
        .replace(' -b', ' -- -b')
        .replace('-- -b@ex.mn --reason opt_out', '--reason opt_out -- -b@ex.mn'),
    );
    await here('service suppressions add gone@ex.mn --reason unknown_recipient');
    const { stdout } = await here(`service suppressions list -o ${format}`);
    const added = await here('service suppressions add --from-file - --project Shop --json', {
      stdin: stdout,
    });
    expect(JSON.parse(added.stdout)).toEqual({ added: 1_203, already_there: 0, invalid: 0 });
    const bare = async (words = '') => (await list(words)).map(({ to, reason }) => `${to} ${reason}`).sort();
    expect(await bare('--project Shop')).toEqual(await bare());
    expect(await list('--limit 5')).toHaveLength(5);
    const table = await here('service suppressions list');
    expect(table.stderr).toContain('Showing the newest 100');
  });

  it('keeps of two reasons the one that holds for more, whatever comes first', async () => {
    const { here, list, write } = await desk();
    write(
      'left.csv',
      'to,reason\nbat+x@ex.mn,opt_out\nbat@ex.mn,manual\n99112233,opt_out\n99112233,manual\n',
    );
    await here('service suppressions add --from-file left.csv');
    expect((await list()).map(({ to, reason }) => `${to} ${reason}`).sort()).toEqual([
      '99112233 manual',
      'bat+x@ex.mn opt_out',
      'bat@ex.mn manual',
    ]);
  });

  it('is left without erased recipients, who are counted', async () => {
    const { here, list } = await desk();
    await here('service suppressions add gone@ex.mn bat@ex.mn');
    await here('service prune --recipient gone@ex.mn --yes');
    const { code, stdout, stderr } = await here('service suppressions list --json');
    expect({ code, to: JSON.parse(stdout).map((each: { to: string }) => each.to) }).toEqual({
      code: 0,
      to: ['bat@ex.mn'],
    });
    expect(stderr).toContain('1 erased recipient left out');
    expect((await here('service suppressions list')).stdout).toContain('erased:');
    expect(await list()).toHaveLength(1);
  });
});
