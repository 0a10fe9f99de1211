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
  const plan = here.jobFile(job, 'plan.json');
  const record = JSON.parse(readFileSync(plan, 'utf8').split('\n').slice(1).join('\n'));
  const list = readFileSync(join(here.home, 'list.csv'));
  record.meta.columns = moved[0]?.split(',');
  record.files['input.csv'] = {
    bytes: list.length,
    sha256: createHash('sha256').update(list).digest('hex'),
  };
  writeFileSync(plan, checksummedText('urtuu-plan', 2, JSON.stringify(record)));
  writeFileSync(here.jobFile(job, 'input.csv'), list);
  return { here, job, code };
}

describe('a list that another version of this program sent, and read otherwise', () => {
  it.each([
    ['the same command', line],
    ['--skip-sent', `${line} --skip-sent`],
  ])('is not sent again by %s, which names its job', async (_, command) => {
    const { here, job } = await upgraded();
    const { code, stderr } = await here.run(command);
    expect({ code, stderr }).toEqual({
      code: 11,
      stderr: `urtuu: the job ${job} has the same list and text, but this version reads the list otherwise: the text changed from "T '-5,000₮" to "T -5,000₮"
  Nothing was sent this time. Use a new --job name to send to everyone again.
`,
    });
    expect(here.project.sends).toHaveLength(1);
  });

  it('is not sent again while its job is in doubt, and the command that finishes the job is printed', async () => {
    const { here, job, code } = await upgraded({
      instead: ({ method }) => (method === 'POST' ? new Error('the line broke') : undefined),
    });
    expect(code).toBe(6);
    delete here.project.options.instead;
    const end = await here.run(line);
    expect(end.code).toBe(11);
    expect(end.stderr).toContain(`or finish that job: urtuu jobs resume ${job}`);
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
