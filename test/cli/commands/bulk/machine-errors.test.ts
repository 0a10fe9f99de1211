import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../../support/run.js';
import { constant, desk, people } from './desks.js';

const bad = ['9911,Dorj', '88112233,x,y', 'nobody@example.mn,=1+1'];
const formats = ['--json', '-o ndjson', '-o csv', '-o tsv'];

describe('with a machine format, standard error is one JSON object', () => {
  it.each(formats)('for rows that cannot be sent: %s', async (format) => {
    const here = desk([...people(2), ...bad]);
    const { code, stdout, stderr } = await here.run(`${constant} ${format}`);
    expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: 'bad_rows',
        exit: 8,
        rejected: 3,
        rejects_file: join(here.home, 'list.rejected.csv'),
        rows: [
          { line: 4, column: 'phone', value: '9911', message: '"9911" is not a phone number' },
          { line: 5, column: 'name', value: 'x', message: 'the row has 3 fields, the header has 2' },
          {
            line: 6,
            column: 'phone',
            value: 'nobody@example.mn',
            message: '"nobody@example.mn" is not a phone number',
          },
        ],
      },
      warnings: [],
    });
  });

  it.each(formats)('for rows that a dry run leaves out, where nothing fails: %s', async (format) => {
    const here = desk([...people(2), ...bad]);
    const { code, stderr } = await here.run(`${constant} --skip-invalid --dry-run ${format}`);
    expect(code).toBe(0);
    expect(JSON.parse(stderr)).toEqual({
      warnings: [
        'list.csv:4: phone: "9911" is not a phone number',
        'list.csv:5: name: the row has 3 fields, the header has 2',
        'list.csv:6: phone: "nobody@example.mn" is not a phone number',
      ],
    });
  });

  it('for more rows than anybody reads: the first hundred, and how many there are', async () => {
    const here = desk(Array.from({ length: 150 }, (_, index) => `x${index},${'n'.repeat(300)}`));
    const { error } = JSON.parse((await here.run(`${constant} --json --to-column name`)).stderr);
    expect(error).toMatchObject({ rejected: 150 });
    expect(error.rows).toHaveLength(100);
    expect(error.rows[0].value).toHaveLength(203);
  });

  it('for rows that were left out: exit 3, with what the last line says', async () => {
    const here = desk([...people(2), ...bad]);
    const { code, stdout, stderr } = await here.run(`${constant} --skip-invalid --json`);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 2, rejected: 3 });
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: 'partly',
        exit: 3,
        message: '2 accepted, 3 rejected. Nothing is in doubt.',
        hint: expect.stringMatching(
          /^Fix the rejected rows, then send only those with: urtuu sms bulk \/.*\.csv --like july --yes$/,
        ),
        rejected: 3,
        rows: [{ line: 4 }, { line: 5 }, { line: 6 }],
      },
      warnings: [],
    });
  });

  it('for a job that stops half-way, with the command that goes on', async () => {
    const here = desk(people(3), { credits: 10 });
    const { code, stderr } = await here.run(
      "sms bulk list.csv --text 'Hi {name}' --job july --yes --allow-partial --json",
    );
    expect(code).toBe(7);
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: 'out_of_credits',
        exit: 7,
        message: 'Stopped: out of credits. 1 accepted, 2 not sent yet. Nothing is in doubt.',
        hint: 'Resume with: urtuu jobs resume july',
      },
      warnings: [],
    });
  });

  it('for warnings before a result: they are in the object, and nothing else is there', async () => {
    const here = desk(people(2));
    await here.run(constant);
    const plan = here.jobFile('july', 'plan.json');
    const { writeFileSync } = await import('node:fs');
    writeFileSync(plan, '{');
    const { code, stdout, stderr } = await here.run('jobs list --json');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '[]\n' });
    expect(JSON.parse(stderr)).toEqual({ warnings: [expect.stringContaining('plan.json')] });
  });

  it('for a refusal after a warning', async () => {
    const instead = () => refusal(401, 'unauthorized');
    const here = desk(people(2), { instead });
    const { code, stderr } = await here.run(`${constant} --json`);
    expect(code).toBe(4);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'unauthorized' }, warnings: [] });
  });

  it('is empty when all went well', async () => {
    const here = desk(people(2));
    expect(await here.run(`${constant} --json`)).toMatchObject({ code: 0, stderr: '' });
  });

  it('while a person who looks on is told as always', async () => {
    const here = desk(people(2));
    const { stderr } = await here.run(`${constant} --json`, { terminal: 80 });
    expect(stderr).toContain('Recipients  2');
  });
});

describe('masked', () => {
  const run = (format: string) => {
    const here = desk([...people(1), '9911223,Dorj', 'nobody@example.mn,x']);
    return here.run(`${constant} ${format}`, { env: { URTUU_API_KEY: 'k', CI: 'true' } });
  };
  it('no warning of a run in CI holds a recipient', async () => {
    const { stderr } = await run('');
    expect(stderr).toContain('list.csv:3: phone: "991**23" is no');
    expect(stderr).not.toMatch(/9911223|nobody@/);
  });
  it('nor does the error object', async () => {
    const { stderr } = await run('--mask --json');
    expect(JSON.parse(stderr).error.rows[0]).toMatchObject({ value: '991**23', message: /"991\*\*23" is/ });
    expect(stderr).not.toMatch(/9911223|nobody@/);
  });
  it('nor does an error about a header that is none', async () => {
    const here = desk([]);
    here.write('list.csv', ['99112233,bat@example.mn', '88112233,x']);
    const env = { URTUU_API_KEY: 'k', CI: 'true' };
    for (const words of ['', '--to-column x']) {
      const { code, stderr } = await here.run(`${constant} ${words}`, { env });
      expect(code).toBe(8);
      expect(stderr).not.toMatch(/99112233|bat@/);
    }
  });
});

const stateFolder = ({ home }: { home: string }) => join(home, '.local/state/urtuu/rejects');

describe('a rejects file', () => {
  const line = "sms bulk list.csv --text 'Hello' --yes";
  const rejected = (here: ReturnType<typeof desk>) =>
    readdirSync(here.home).filter((name) => name.includes('rejected'));

  it('is beside the list, which the error says; for nobody else to read', async () => {
    const here = desk(['9911,Dorj']);
    const { stderr } = await here.run(line);
    expect(stderr).toMatch(/It is in .*list\.rejected\.csv\. Fix it\.$/m);
    const two = desk(['9911,Dorj', '8811,Bat', ...people(1)]);
    expect((await two.run(line)).stderr).toMatch(/They are in .*\. Fix them, or send the others with/);
    expect(here.read('list.rejected.csv')).toMatch(/^phone,name,line,error\r\n9911,Dorj,2,/);
    if (process.platform !== 'win32')
      expect(statSync(join(here.home, 'list.rejected.csv')).mode & 0o777).toBe(0o600);
    expect(readdirSync(stateFolder(here))).toEqual([]);
  });

  it('is never written over: somebody may have corrected it', async () => {
    const here = desk(['9911,Dorj']);
    await here.run(line);
    await here.run(line);
    expect(rejected(here)).toEqual(['list.rejected.csv']);
    here.write('list.rejected.csv', ['phone,name', '99112233,Dorj']);
    const { stderr } = await here.run(line);
    expect(stderr).toContain('list.rejected-2.csv');
    expect(here.read('list.rejected.csv')).toContain('99112233,Dorj');
    expect(here.read('list.rejected-2.csv')).toContain('9911,Dorj');
  });

  it('leaves the name of the report free', async () => {
    const here = desk([...people(1), '9911,Dorj']);
    const { code } = await here.run(`${line} --skip-invalid --report list.rejected.csv`);
    expect(code).toBe(3);
    expect(here.read('list.rejected.csv')).toContain('message_id');
    expect(here.read('list.rejected-2.csv')).toContain('9911,Dorj');
  });

  it('is in the state folder where a list is in none, and gone after 90 days, since it holds recipients', async () => {
    const here = desk([]);
    const piped = "sms bulk - --text 'Hello' --yes";
    const { stderr } = await here.run(piped, { stdin: 'phone,name\n9911,Dorj\n' });
    expect(stderr).toMatch(/rejects\/stdin-[0-9a-f]{12}\.csv/);
    const now = Date.now() + 91 * 86_400_000;
    const clock = { now: () => now, sleep: async () => {} };
    await here.run(piped, { clock, stdin: 'phone,name\n8811,Bat\n' });
    expect(readdirSync(stateFolder(here))).toHaveLength(1);
  });

  it('begins with the byte order mark of the input', async () => {
    const here = desk([]);
    here.write('list.csv', ['\ufeffphone,name', '9911,Дорж']);
    await here.run(`${constant} --rejects r.csv`);
    expect(here.read('r.csv')).toMatch(/^\ufeffphone,name,line,error\r\n9911,Дорж,2,/);
  });
});
