import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../../support/desk.js';
import { answers, refusal } from '../../../../support/run.js';
import { saying } from '../../../../support/saying.js';
import { numbers } from '../../../bulk/memory-plan.js';
import { constant, desk, figures, partly, partlySent, people, personal } from '../desks.js';

const take = (status: string, more = '') =>
  `sms bulk report.csv --only ${status} --text 'Hello {name}' --job more --yes${more}`;

/** A desk whose job `july` has a report of three, of whom so many failed, and none fails any more. */
async function reportedWith(failed: number): Promise<Desk> {
  const failing = new Set(numbers(failed));
  const here = desk(people(3), { failing });
  await here.run(`${personal} --report report.csv`);
  failing.clear();
  return here;
}

describe('--only with the report of a job on this machine', () => {
  it('refuses what the job itself would still send, and names the command that does', async () => {
    const here = await partlySent(`${partly} --report report.csv`);
    const { code, stderr } = await here.run(take('pending'));
    expect(code).toBe(11);
    expect(stderr).toMatch(/the job july would still send 3 of these rows itself/);
    expect(stderr).toMatch(/To finish it: urtuu jobs resume july\n$/);
    expect(await here.run(take('pending', ' --dry-run'))).toMatchObject({ code: 11 });
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    // The report is older than that.
    const stale = await here.run(take('pending'));
    expect(stale).toMatchObject({ code: 11 });
    expect(stale.stderr).toContain('has sent 3 of these rows since the report');
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it('takes failed rows away from their job, which never sends them again', async () => {
    const here = await reportedWith(2);
    expect(await here.run(take('failed'))).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
    expect(await here.run('jobs resume july --retry-failed')).toMatchObject({ code: 11 });
    const show = figures((await here.run('jobs show july --json')).stdout);
    expect(show).toMatchObject({ accepted: 1, moved: 2, moved_to: ['more'], rejected: 0, failed: 0 });
    // The same again is the same job.
    expect(await here.run(take('failed'))).toMatchObject({ code: 11 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
    expect(existsSync(here.jobFile('more', 'taken'))).toBe(false);
  });

  it('knows the job of a row whose cell got blanks around it', async () => {
    const here = desk(people(2), { credits: 15 });
    await here.run(`${partly} --report report.csv`);
    here.project.balance = 1_000;
    here.write(
      'report.csv',
      here
        .read('report.csv')
        .trim()
        .split('\r\n')
        .map((row) => row.replace(/,july$/, ',\u00a0july ')),
    );
    const end = await here.run('sms bulk report.csv --only pending --text Other --job more --yes');
    expect([end.code, end.stderr]).toEqual([11, expect.stringContaining('the job july would still send')]);
  });

  it.each([
    ['single SMS', personal, "'Hello {name}'", 3],
    ['a batch that was waited for', `${constant} --wait`, 'Hello', 3],
    ['a batch that was not', constant, 'Hello', 0],
  ])(
    'says in the record whose they are now, and gives them to no third job: %s',
    async (_, line, text, exit) => {
      const failing = new Set(numbers(1));
      const here = desk(people(3), { failing });
      expect(await here.run(`${line} --report report.csv`)).toMatchObject({ code: exit });
      failing.clear();
      const again = (job: string, more = '') =>
        here.run(`sms bulk report.csv --only failed,rejected --text ${text} --job ${job} --yes${more}`);
      expect(await again('july-retry')).toMatchObject({ code: 0 });
      const shown = figures((await here.run('jobs show july --json')).stdout);
      expect(shown).toMatchObject({ planned: 3, accepted: 2, failed: 0, rejected: 0, moved: 1 });
      expect(shown.moved_to).toEqual(['july-retry']);
      expect((await here.run('jobs list')).stdout).toMatch(/^july .* finished: 1 moved to july-retry$/m);
      expect((await here.run('jobs report july')).stdout).toMatch(/^99000000,.*,moved,moved_to:july-retry,/m);
      const watched = await here.run('jobs watch july');
      expect(watched.stderr).toContain('1 moved to july-retry');
      expect(watched.code).toBe(0);
      const ended = await here.run(`${line} --if-finished ok`);
      expect([ended.code, ended.stdout]).toEqual([
        0,
        expect.stringMatching(/\nmoved +1\nmoved to +july-retry\n/),
      ]);
      // The old report, and one of now.
      const third = await again('july-retry2');
      expect(third).toMatchObject(saying(11, 'the job july-retry took 1 of these rows from july'));
      await here.run('jobs report july --report report.csv');
      const none = await again('july-retry3');
      expect(none).toMatchObject(saying(8, 'Nothing is left to send'));
      expect(await here.run('sms bulk report.csv --only moved --text x --yes')).toMatchObject({ code: 2 });
      // The same line again is the same job.
      expect([...here.project.received().values()]).toEqual([1, 1, 1]);
    },
  );

  it('takes them before it sends, also when it is cut short', async () => {
    const here = await reportedWith(2);
    here.project.balance = 10;
    expect(await here.run(take('failed', ' --allow-partial'))).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    expect(await here.run('jobs resume july --retry-failed')).toMatchObject({ code: 11 });
    expect(await here.run('jobs resume more')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('is removed by a retry of their job, if it was killed before it was confirmed', async () => {
    const failing = new Set(numbers(3).slice(0, 2));
    const here = desk(people(3), { failing });
    await here.run(`${personal} --report report.csv`);
    await here.run(take('failed'));
    // As after a crash between the plan and the first request: nothing taken, nothing sent.
    rmSync(here.jobFile('more', 'journal'));
    failing.clear();
    expect(await here.run('jobs resume july --retry-failed')).toMatchObject({ code: 0 });
    expect(await here.run('jobs resume more')).toMatchObject({ code: 12 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('sends nothing from a plan whose record of the rows was changed', async () => {
    const here = await reportedWith(2);
    expect(await here.run(take('failed'))).toMatchObject({ code: 0 });
    writeFileSync(here.jobFile('more', 'origins'), '["july","failed",[2]]\n');
    expect(await here.run('jobs resume more')).toMatchObject({ code: 13 });
  });

  it('leaves everything as it was when the question is declined', async () => {
    const failing = new Set(numbers(3).slice(0, 2));
    const here = desk(people(3), { failing });
    await here.run(`${personal} --report report.csv`);
    const asked = { terminal: 80, questions: answers(false) };
    expect(await here.run(take('failed').replace(' --yes', ''), asked)).toMatchObject({ code: 2 });
    failing.clear();
    expect(await here.run('jobs resume july --retry-failed')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('leaves to the job the rows of a failed batch that it does not take', async () => {
    const here = desk(people(3));
    const refusing = refusal(502, 'provider_failed', { id: 'm' });
    here.project.options.instead = ({ method }) => (method === 'POST' ? refusing : undefined);
    expect(await here.run(`${constant} --report report.csv`)).toMatchObject({ code: 9 });
    delete here.project.options.instead;
    here.write('report.csv', here.read('report.csv').trimEnd().split('\r\n').slice(0, 2));
    expect(await here.run(take('failed'))).toMatchObject({ code: 0 });
    const left = figures((await here.run('jobs show july --json')).stdout);
    expect(left).toMatchObject({ planned: 3, moved: 1, rejected: 0, failed: 2 });
    expect(await here.run('jobs resume july --retry-failed --report after.csv')).toMatchObject({ code: 0 });
    expect(here.read('after.csv').trim().split('\r\n')).toHaveLength(3);
    const after = figures((await here.run('jobs show july --json')).stdout);
    expect(after).toMatchObject({ moved: 3, failed: 0, moved_to: ['july-retry-1', 'more'] });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('reads the reports of earlier releases, which do not name their job', async () => {
    const here = desk(people(3), { failing: new Set(numbers(3).slice(0, 1)) });
    await here.run(`${constant} --wait --report report.csv`);
    const old = here.read('report.csv').replaceAll(/,[^,\r]*,[^,\r]*(?=\r)/g, '');
    expect(old).toMatch(/^phone,name,message_id,batch_id,status,error_code,credits,line\r/);
    writeFileSync(join(here.home, 'report.csv'), old);
    expect(await here.run(`${take('failed')} --dry-run --json`)).toMatchObject({ code: 0 });
  });
});

describe('--only with a report whose rows another job has sent since', () => {
  /** A desk whose commands come one minute after the other. */
  function evening(...given: Parameters<typeof desk>) {
    const here = desk(...given);
    let now = Date.parse('2026-11-21T18:00:00.000Z');
    const sleep = async (milliseconds: number) => {
      now += milliseconds;
    };
    const later = (line: string) => {
      now += 60_000;
      return here.run(line, { clock: { now: () => now, sleep } });
    };
    return { here, later };
  }

  it.each([
    ['of singles', "--text 'Hello {name}'"],
    ['of a batch', '--text Hello --wait'],
  ])('refuses them, %s, unless --again says to send once more', async (_, text) => {
    const failing = new Set(numbers(1));
    const { here, later } = evening(people(3), { failing });
    expect(await later(`sms bulk list.csv ${text} --yes --report report.csv`)).toMatchObject({ code: 3 });
    failing.clear();
    const failed = (more: string) => `sms bulk report.csv --only failed ${text} --yes${more}`;
    expect(await later(failed(' --job more'))).toMatchObject({ code: 0 });
    const { code, stderr } = await later(failed(''));
    expect(code).toBe(11);
    expect(stderr).toContain('the job more took 1 of these rows from sms-');
    expect(stderr).toMatch(
      /--again sends to them once more, even if they have the message\. To see what they got: urtuu jobs report more --report \S+\/more-report\.csv\n$/,
    );
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
    expect(await later(failed(' --again'))).toMatchObject({ code: 0 });
  });

  it('takes those that failed there, too, from the report of that job', async () => {
    const failing = new Set(numbers(2));
    const { here, later } = evening(people(4), { failing });
    const wait = '--text Hello --yes --wait';
    expect(await later(`sms bulk list.csv ${wait} --report report.csv`)).toMatchObject({ code: 3 });
    failing.delete(numbers(1)[0] ?? '');
    expect(await later(`sms bulk report.csv --only failed ${wait} --report left.csv`)).toMatchObject({
      code: 3,
    });
    failing.clear();
    expect(await later(`sms bulk left.csv --only failed ${wait}`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1]);
  });

  it('leaves to an unfinished one what it would send', async () => {
    const failing = new Set(numbers(2));
    const { here, later } = evening(people(4), { failing });
    const wait = '--text Hello --yes --wait';
    await later(`sms bulk list.csv ${wait} --report report.csv`);
    failing.clear();
    here.project.balance = 5;
    const only = `sms bulk report.csv --only failed ${wait}`;
    expect(await later(`${only} --job more --allow-partial`)).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    expect(await later(only)).toMatchObject(saying(11, 'the job more took 2 of these rows from sms-'));
    expect(await later('jobs resume more')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1]);
  });
});

describe('--only with a report that no longer says what became of its rows', () => {
  const again = (job: string, file = 'report.csv', more = '') =>
    `sms bulk ${file} --only failed --text 'Hello {name}' --job ${job} --yes${more}`;

  it('refuses what another job took, also once the job of the report is removed', async () => {
    const here = await reportedWith(1);
    expect(await here.run(again('retry'))).toMatchObject({ code: 0 });
    expect(await here.run('jobs remove july')).toMatchObject({ code: 0 });
    const end = await here.run(again('retry-b'));
    expect(end).toMatchObject(saying(11, 'the job retry took 1 of these rows from july'));
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
    expect(await here.run(again('retry-b', 'report.csv', ' --again'))).toMatchObject({ code: 0 });
  });

  it('refuses the same of rows whose columns name no job', async () => {
    const here = await reportedWith(1);
    here.write('bare.csv', ['phone,name,status', '99000000,Bat 0,failed']);
    expect(await here.run(again('one', 'bare.csv'))).toMatchObject({ code: 0 });
    expect(await here.run(again('two', 'bare.csv'))).toMatchObject({ code: 11 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('names the job that has the rows of a finished one', async () => {
    const failing = new Set(numbers(1));
    const here = desk(people(3), { failing });
    await here.run(`${personal} --report report.csv`);
    await here.run(again('retry'));
    const end = await here.run('jobs resume july --retry-failed');
    expect(end).toMatchObject(saying(11, '1 moved to retry (urtuu jobs show retry).'));
  });
});

describe('--only with the report of a job that is not on this machine', () => {
  it('refuses what is pending there, unless --again says that it will not be sent', async () => {
    const one = desk(people(3), { credits: 10 });
    const other = desk([]);
    await one.run(`${partly} --report report.csv`);
    other.write('report.csv', [one.read('report.csv').trimEnd()]);
    expect(await other.run(take('pending'))).toMatchObject(
      saying(11, /the job july is not on this machine, and may still send 2 of these rows/),
    );
    expect(await other.run(take('pending', ' --again'))).toMatchObject({ code: 0 });
    expect(other.project.received().size).toBe(2);
  });
});

describe('--only undelivered', () => {
  const columns = 'message_id,batch_id,status,error_code,credits,line,delivery,job';
  const reported = (delivery: string, status = 'sent') => `x,x,${status},,10,2,${delivery},july`;
  const send = "sms bulk report.csv --only undelivered --text 'Hello' --yes";

  it('sends what the carrier says it has not delivered, as a new job, and says so', async () => {
    const here = desk([]);
    here.write('report.csv', [
      `phone,${columns}`,
      `99000000,${reported('undelivered')}`,
      `99000001,${reported('bounced')}`,
      `99000002,${reported('unknown')}`,
      `99000003,${reported('delivered')}`,
      `99000004,${reported('')}`,
      `99000005,${reported('', 'failed')}`,
      `99000006,${reported('undelivered', 'in_doubt')}`,
    ]);
    expect(await here.run(send.replace('undelivered', 'failed,undelivered --dry-run'))).toMatchObject({
      stdout: expect.stringContaining('Recipients  3 '),
    });
    const end = await here.run(send);
    expect(end).toMatchObject(saying(0, 'Undelivered rows are sent again as a new job, and charged again.'));
    expect([...here.project.received().keys()]).toEqual(['99000000', '99000001']);
    expect(await here.run(send)).toMatchObject({ code: 11 });
  });

  it('sends to a recipient again although a recent job has sent the same message, and only once', async () => {
    const here = desk(people(3));
    await here.run(constant);
    here.project.options.instead = ({ path }) =>
      path.includes('/messages')
        ? {
            body: {
              data: here.project.messages.map((message, index) => ({
                ...message,
                delivery: index === 1 ? 'undelivered' : 'delivered',
              })),
              next: null,
            },
          }
        : undefined;
    await here.run('jobs report july --report report.csv');
    here.project.options.instead = () => undefined;
    expect(await here.run(send)).toMatchObject({ code: 0 });
    expect(here.project.received().get('99000001')).toBe(2);
    expect(here.project.messages).toHaveLength(4);
    expect(await here.run(send)).toMatchObject({ code: 11 });
  });

  it('wants a report with a delivery column', async () => {
    const here = desk([]);
    here.write('report.csv', ['phone,status', '99000000,sent']);
    expect(await here.run(send)).toMatchObject(saying(8, 'no delivery column for --only'));
  });
});
