import { createHash } from 'node:crypto';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checksummedText } from '../../../../../src/cli/bulk/plan/files/checksummed-text.js';
import type { ProjectOptions } from '../../../../support/fake-project.js';
import { workbook } from '../../../bulk/input/workbook/write-workbook.js';
import { desk } from '../desks.js';

const moved = ['error,phone,extra,amount,line', 'phone: no,99002101,x,"\'-5,000₮",2'];
const line = "sms bulk list.csv --text 'T {amount}' --yes";

/** A machine with a job of an earlier version, which left the guard in the cells of a rejects file. */
async function upgraded(options: ProjectOptions = {}) {
  const here = desk([], options);
  here.write('list.csv', ['fault,phone,extra,amount,row', ...moved.slice(1)]);
  const { code } = await here.run(`${line} --max-retries 0`);
  const [job = ''] = here.jobs;
  here.write('list.csv', moved);
  keepList(here, job);
  return { here, job, code };
}

/** Makes the list of now the one that a job was made of, as if the program had read it otherwise then. */
function keepList(here: ReturnType<typeof desk>, job: string): void {
  const plan = here.jobFile(job, 'plan.json');
  const record = JSON.parse(readFileSync(plan, 'utf8').split('\n').slice(1).join('\n'));
  const list = readFileSync(join(here.home, 'list.csv'));
  record.meta.columns = list.toString().split('\n')[0]?.split(',');
  record.files['input.csv'] = {
    bytes: list.length,
    sha256: createHash('sha256').update(list).digest('hex'),
  };
  writeFileSync(plan, checksummedText('urtuu-plan', 2, JSON.stringify(record)));
  writeFileSync(here.jobFile(job, 'input.csv'), list);
}

describe('a list that an earlier version of this program sent, and read otherwise', () => {
  it.each([
    [line, 'sent_before', '1 recipient of this list was sent the same message'],
    [`${line} --skip-sent`, 'job_done', 'everyone in this list was sent the same message'],
  ])('is not sent again: %s', async (command, code, message) => {
    const { here } = await upgraded();
    const end = await here.run(`${command} --json`);
    expect(end.code).toBe(11);
    expect(JSON.parse(end.stderr).error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(here.project.sends).toHaveLength(1);
  });

  it('is not sent again because a row is refused now, however old its job is', async () => {
    let now = Date.parse('2026-10-01T00:00:00.000Z');
    const here = desk([], { now: () => now });
    const run = (command: string) => here.run(command, { clock: { now: () => now } });
    here.write('list.csv', ['name,phone', 'A,99002101', 'B,99002102']);
    const command = "sms bulk list.csv --text 'Hi {name}' --yes --skip-invalid";
    expect(await run(command)).toMatchObject({ code: 0 });
    const [job = ''] = here.jobs;
    utimesSync(here.jobFile(job, 'journal'), now / 1_000, now / 1_000);
    now += 30 * 86_400_000;
    here.write('list.csv', ['name,phone', 'A,99002101', '#N/A,99002102']);
    keepList(here, job);
    const end = await run(`${command} --json`);
    expect(end.code).toBe(11);
    const message = `the job ${job} of this list has sent the same message to 1 recipient`;
    expect(JSON.parse(end.stderr).error).toMatchObject({ code: 'job_done', message });
    expect(here.project.messages).toHaveLength(2);
    expect(await run(`${command} --again`)).toMatchObject({ code: 3 });
  });

  it('is sent to another column of recipients, whoever is in both', async () => {
    const here = desk([]);
    here.write('list.csv', ['name,phone,other', 'A,99002101,99002102', 'B,99002102,99002103']);
    const command = "sms bulk list.csv --text 'Hi {name}' --yes --to-column";
    expect(await here.run(`${command} phone`)).toMatchObject({ code: 0 });
    expect(await here.run(`${command} other`)).toMatchObject({ code: 0 });
  });

  it('is sent to whom it did not have then, with --skip-sent', async () => {
    const { here } = await upgraded();
    here.write('list.csv', [...moved, "phone: no,99002102,x,'-6,3"]);
    expect(await here.run(line)).toMatchObject({ code: 11 });
    expect(await here.run(`${line} --skip-sent`)).toMatchObject({ code: 0 });
    expect(here.project.sends.map(({ body }) => body?.text)).toEqual(["T '-5,000₮", 'T -6']);
  });

  it('is left to its job, which is in doubt', async () => {
    const { here, job, code } = await upgraded({
      instead: ({ method }) => (method === 'POST' ? new Error('the line broke') : undefined),
    });
    expect(code).toBe(6);
    delete here.project.options.instead;
    for (const command of [line, `${line} --skip-sent`]) {
      const end = await here.run(command);
      expect(end.code).toBe(11);
      expect(end.stderr).toContain(`the unfinished job ${job} would send the same message to 1 recipient`);
      expect(end.stderr).toContain(`or finish that job: urtuu jobs resume ${job}`);
    }
    expect(here.project.messages).toEqual([]);
    expect(await here.run(`jobs resume ${job}`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1]);
  });

  it.each([
    ['another text', line.replace('T {', 'Now {')],
    ['another column', line.replace('amount', 'extra')],
    ['--again', `${line} --again`],
    ['another --job', `${line} --job other`],
  ])('is sent with %s', async (_, command) => {
    const { here } = await upgraded();
    expect(await here.run(command)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([2]);
  });

  it.each([
    ['is not sent again if it is a workbook older than its job', 1_000, 11],
    ['is sent if it is a workbook that was saved since', Date.now() / 1_000 + 60, 0],
  ])('%s', async (_, saved, code) => {
    const here = desk([]);
    const path = join(here.home, 'list.xlsx');
    const send = async (name: string, seconds: number) => {
      writeFileSync(
        path,
        workbook({
          sheets: [
            {
              name: 'July',
              rows: [
                ['phone', 'day'],
                [99_000_000, name],
              ],
            },
          ],
        }),
      );
      utimesSync(path, seconds, seconds);
      return here.run("sms bulk list.xlsx --text 'On {day}' --yes");
    };
    expect(await send('2022-01-01', 1_000)).toMatchObject({ code: 0 });
    expect(await send('2026-01-02', saved)).toMatchObject({ code });
  });
});
