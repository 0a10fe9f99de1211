import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { lockFolder } from '../../../src/cli/bulk/lock.js';
import { Desk, type ProjectOptions, refused } from './fake-project.js';
import { numbers } from './memory-plan.js';

const desks: Desk[] = [];
afterEach(() => {
  for (const desk of desks.splice(0)) desk.remove();
});

function desk(rows: readonly string[], options: ProjectOptions = {}): Desk {
  const made = new Desk(options);
  desks.push(made);
  made.write('list.csv', ['phone,name', ...rows]);
  return made;
}
const people = (count: number) => numbers(count).map((number, index) => `${number},Bat ${index}`);
const constant = "sms bulk list.csv --text 'Hello' --job july --yes";
const personal = "sms bulk list.csv --text 'Hello {name}' --job july --yes";
const figures = (stdout: string) => JSON.parse(stdout) as Record<string, unknown>;

describe('urtuu sms bulk', () => {
  it('shows what it would cost with --dry-run, sends nothing and leaves no job', async () => {
    const here = desk(people(1_500));
    const { code, stdout } = await here.run("sms bulk list.csv --text 'Сайн уу' --dry-run --json");
    expect(code).toBe(0);
    expect(figures(stdout)).toMatchObject({
      recipients: 1_500,
      merged: 0,
      rejected: 0,
      requests: 2,
      credits: 15_000,
      balance: 1_000_000,
      cost: [{ kind: 'cyrillic', recipients: 1_500, parts: 1_500, credits: 15_000 }],
    });
    expect(here.project.sends).toEqual([]);
    expect(here.jobs).toEqual([]);
  });

  it.each([
    ['without a terminal and --yes', {}],
    ['when the person declines', { terminal: 80, questions: { confirm: async () => false } as never }],
  ])('sends nothing %s, exit 2, and leaves no job', async (_, setting) => {
    const here = desk(people(3));
    expect(await here.run("sms bulk list.csv --text 'Hello'", setting)).toMatchObject({ code: 2 });
    expect(here.project.sends).toEqual([]);
    expect(here.jobs).toEqual([]);
  });

  it('sends the exact bytes of the plan, and prints one object with --json', async () => {
    const here = desk([...people(3), '99112233,"Бат ""}"']);
    const { code, stdout, stderr } = await here.run(`${constant} --json`);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(figures(stdout)).toEqual({
      job: 'july',
      planned: 4,
      accepted: 4,
      rejected: 0,
      failed: 0,
      in_doubt: 0,
      pending: 0,
      merged: 0,
      credits: 40,
      balance: 999_960,
      batches: [{ id: expect.any(String), recipients: 4, credits: 40, sent: null, failed: null }],
      exit: 0,
    });
    const bodies = here.project.sends.map(({ init }) => init.body).join('');
    expect(bodies).toBe(readFileSync(here.jobFile('july', 'bodies'), 'utf8'));
  });

  it('keeps the job private', async () => {
    const here = desk(people(2));
    await here.run(constant);
    expect(statSync(dirname(here.jobFile('july', 'x'))).mode & 0o777).toBe(0o700);
    expect(statSync(here.jobFile('july', 'journal')).mode & 0o777).toBe(0o600);
  });

  it('refuses to send a finished job again, says when it ran, and repeats it with --again', async () => {
    const here = desk(people(3));
    await here.run(personal);
    const again = await here.run(personal);
    expect(again).toMatchObject({ code: 11 });
    const [, at] = /ran already, until (.*)\n/.exec(again.stderr) ?? [];
    const forPrograms = JSON.parse((await here.run(`${personal} --json`)).stderr);
    expect(forPrograms.error.ended_at).toMatch(/^2026-11-21T00:00:0\d\.\d{3}Z$/);
    expect(new Date(`${at}`).getTime()).toBe(
      Math.floor(Date.parse(forPrograms.error.ended_at) / 1_000) * 1_000,
    );
    expect(here.project.sends).toHaveLength(3);
    expect(await here.run(`${personal} --again`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([2, 2, 2]);
    expect(here.jobs.sort()).toEqual(['july', 'july.2']);
    expect(new Set(here.project.sends.map(({ headers }) => headers['Idempotency-Key'])).size).toBe(6);
  });

  it('goes on with an unfinished repeat instead of starting another one', async () => {
    const here = desk(people(3));
    await here.run(personal);
    here.project.balance = 10;
    expect(await here.run(`${personal} --again`)).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    expect(await here.run(`${personal} --again`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([2, 2, 2]);
    expect(here.jobs.sort()).toEqual(['july', 'july.2']);
  });

  it('makes the same keys from the same file and message on another machine', async () => {
    const [one, other] = [desk(people(3)), desk(people(3))];
    const line = "sms bulk list.csv --text 'Hello {name}' --yes";
    await one.run(line);
    const { fetch } = one.project.service;
    const { code, stderr } = await other.run(line, { fetch });
    expect(code).toBe(0);
    expect([...one.project.received().values()]).toEqual([1, 1, 1]);
    expect(stderr).toContain('3 answers came from earlier requests');
  });

  it('sends nothing twice when the journal was lost', async () => {
    const here = desk(people(3));
    await here.run(personal);
    rmSync(here.jobFile('july', 'journal'));
    expect(await here.run(personal)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('refuses a journal that is broken in its middle, and says what to do', async () => {
    const here = desk(people(3));
    await here.run(personal);
    const path = here.jobFile('july', 'journal');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"send",0', '"send",1'));
    const { code, stderr } = await here.run(personal);
    expect(code).toBe(13);
    expect(stderr).toContain('away');
    expect(here.project.sends).toHaveLength(3);
  });

  it('refuses another plan under the same --job, and shows the difference', async () => {
    const here = desk(people(3));
    await here.run(constant);
    here.write('list.csv', ['phone,name', ...people(4)]);
    const { code, stderr } = await here.run(constant);
    expect(code).toBe(11);
    expect(stderr).toContain('recipients was 3, is 4');
    expect(here.project.sends).toHaveLength(1);
  });

  it('ends a chunk of 1,000 with 120 refused numbers as 880 accepted and 120 rejected, by line', async () => {
    const all = numbers(1_000);
    const unsupported = new Set(all.filter((_, index) => index % 8 === 3).slice(0, 120));
    const here = desk(people(1_000), { unsupported });
    const { code, stdout } = await here.run(`${constant} --json --report report.csv`);
    expect(code).toBe(3);
    expect(figures(stdout)).toMatchObject({ planned: 1_000, accepted: 880, rejected: 120, exit: 3 });
    const rows = here.read('report.csv').trim().split('\r\n').slice(1);
    const rejected = rows.filter((row) => row.includes(',rejected,invalid_request,'));
    expect(rejected.map((row) => Number(row.split(',').at(-1)))).toEqual(
      all.flatMap((number, index) => (unsupported.has(number) ? [index + 2] : [])),
    );
    expect([...here.project.received().values()].every((count) => count === 1)).toBe(true);
    expect(here.project.received().size).toBe(880);
  });

  it('stops without credits, exit 7, and the same command completes it after a top-up', async () => {
    const here = desk(people(5), { credits: 25 });
    const first = await here.run(`${personal} --json`);
    expect(first.code).toBe(7);
    expect(figures(first.stdout)).toMatchObject({
      planned: 5,
      accepted: 2,
      pending: 3,
      in_doubt: 0,
      exit: 7,
    });
    expect(first.stderr).toContain('urtuu jobs resume july');
    here.project.balance = 1_000;
    expect(await here.run(personal)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it('says at a terminal how to go on in whole words, and the command in one piece', async () => {
    const here = desk(people(5), { credits: 25 });
    const { code, stderr } = await here.run(`${personal} --no-color`, { terminal: 50 });
    expect(code).toBe(7);
    for (const line of stderr.split('\n')) expect(line.length).toBeLessThanOrEqual(50);
    expect(stderr).toMatch(
      /warning: Stopped: insufficient_credits. Certain: 2\n {9}accepted, .*\n(?: {9}.*\n)* {2}urtuu jobs resume july\n$/,
    );
  });

  it.each([
    ['unauthorized', refused(401, 'unauthorized'), 4],
    ['not_found', refused(404, 'not_found'), 12],
    ['a service that is away', new Error('ECONNREFUSED'), 6],
  ])('ends with the right code for %s, and the same command goes on', async (_, reply, exit) => {
    const here = desk(people(2));
    here.project.options.instead = ({ method }) => (method === 'POST' ? reply : undefined);
    const { code, stderr } = await here.run(`${personal} --max-wait 1s`);
    expect(code).toBe(exit);
    expect(stderr).toMatch(/Certain: 0 accepted.*Go on with: urtuu jobs resume july/);
    delete here.project.options.instead;
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1]);
  });

  it('counts an answer for somebody else as in doubt, never as accepted', async () => {
    const here = desk(people(1));
    const body = { id: 'x', to: '88110000', status: 'sent', credits: 10, balance: 5 };
    here.project.options.instead = ({ method }) => (method === 'POST' ? { body } : undefined);
    const { code, stdout, stderr } = await here.run(`${personal} --json`);
    expect(code).toBe(6);
    expect(figures(stdout)).toMatchObject({ accepted: 0, in_doubt: 1 });
    expect(stderr).toContain('88110000');
  });

  it('sends nothing while a row is bad, and the others with --skip-invalid, exit 3', async () => {
    const here = desk(['99112233,Bat', 'nobody,Dorj']);
    const refusing = await here.run(constant);
    expect(refusing.code).toBe(8);
    expect(refusing.stderr).toContain('list.csv:3');
    expect(here.project.sends).toEqual([]);
    const { code, stdout } = await here.run(`${constant} --skip-invalid --json --report report.csv`);
    expect(code).toBe(3);
    expect(figures(stdout)).toMatchObject({ planned: 2, accepted: 1, rejected: 1 });
    expect(here.read('report.csv')).toMatch(/^nobody,Dorj,,,rejected,.*,3\r$/m);
  });

  it('refuses to spend more than --max-credits, exit 7, and leaves no job', async () => {
    const here = desk(people(3));
    expect(await here.run(`${constant} --max-credits 29`)).toMatchObject({ code: 7 });
    expect(here.project.sends).toEqual([]);
    expect(here.jobs).toEqual([]);
    expect(await here.run(`${constant} --max-credits 30`)).toMatchObject({ code: 0 });
  });

  it('stops before it spends more than --max-credits when prices rise on the way', async () => {
    const here = desk(people(4));
    here.project.options.instead = ({ method, body }) =>
      method === 'POST'
        ? { body: { id: `m${body?.to}`, to: body?.to, status: 'sent', credits: 15, balance: 9 } }
        : undefined;
    const { code, stdout } = await here.run(`${personal} --max-credits 40 --concurrency 1 --json`);
    expect(code).toBe(7);
    expect(figures(stdout)).toMatchObject({ accepted: 2, credits: 30, pending: 2 });
  });

  it('tries failed singles again with --retry-failed', async () => {
    const failing = new Set([numbers(3)[1] ?? '']);
    const here = desk(people(3), { failing });
    expect(await here.run(personal)).toMatchObject({ code: 3 });
    failing.clear();
    expect(await here.run(personal)).toMatchObject({ code: 11 });
    expect(await here.run(`${personal} --retry-failed`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('waits for batches with --wait, counts what failed, and sends just that from the report', async () => {
    const all = numbers(1_200);
    const failing = new Set(all.slice(500, 510));
    const here = desk(people(1_200), { failing });
    const { code, stdout } = await here.run(`${constant} --wait --report report.csv --json`);
    expect(code).toBe(3);
    expect(figures(stdout)).toMatchObject({ planned: 1_200, accepted: 1_190, failed: 10 });
    const [header, ...rows] = here.read('report.csv').trim().split('\r\n');
    expect(header).toBe('phone,name,message_id,batch_id,status,error_code,credits,line');
    expect(rows.filter((row) => row.includes(',sent,'))).toHaveLength(1_190);
    failing.clear();
    expect(
      await here.run("sms bulk report.csv --only failed --text 'Hello' --yes --job more --json"),
    ).toMatchObject({ code: 0 });
    expect(here.project.sends.at(-1)?.body?.to).toEqual(all.slice(500, 510));
    expect([...here.project.received().values()].every((count) => count === 1)).toBe(true);
  });

  it.each([
    ['', ''],
    [' once their end is known', ' --wait'],
  ])('finds in the report a key that another machine used for as many others%s', async (_, wait) => {
    const [one, other] = [desk(people(3)), desk([])];
    const strangers = numbers(2, 500).map((number) => `${number},Bat`);
    other.write('list.csv', ['phone,name', ...people(1), ...strangers]);
    await one.run(constant);
    const { fetch } = one.project.service;
    const end = await other.run(`${constant} --report report.csv --json${wait}`, { fetch });
    expect(end.code).toBe(6);
    expect(end.stderr).toMatch(
      /request 0: batch \S+ went to 2 recipients of another request with the same key/,
    );
    expect(figures(end.stdout)).toMatchObject({
      planned: 3,
      accepted: 0,
      failed: 0,
      in_doubt: 3,
      batches: [],
    });
    const report = other.read('report.csv');
    expect(report.match(/,in_doubt,/g)).toHaveLength(3);
    expect(await other.run('jobs report july --offline', { fetch })).toMatchObject({ stdout: report });
    expect(figures((await other.run('jobs show july --json')).stdout)).toMatchObject({ in_doubt: 3 });
  });

  it('reports the figures of a batch where its messages are not listed', async () => {
    const here = desk(people(3), { listing: false });
    const { stderr } = await here.run(`${constant} --wait --report report.csv`);
    expect(here.read('report.csv').match(/,sent,/g)).toHaveLength(3);
    expect(stderr).toContain('does not list');
  });

  it.each([
    ['sms bulk list.csv --yes', '--text'],
    ['email bulk list.csv --yes --text x', '--subject'],
    ['email bulk list.csv --yes --subject x', '--text or --html'],
  ])('%s says what is missing, exit 2', async (line, missing) => {
    const here = desk(people(1));
    const { code, stderr } = await here.run(line);
    expect([code, stderr.includes(missing)]).toEqual([2, true]);
    expect(here.project.service.requests).toEqual([]);
  });

  it('says what is certain also when the program itself fails', async () => {
    const fresh = desk(people(3));
    fresh.project.options.instead = ({ method }) => {
      if (method !== 'POST') return undefined;
      // What a plan that vanishes under a running job does.
      rmSync(fresh.jobFile('july', 'bodies'), { force: true });
      return refused(429, 'recipient_rate_limited');
    };
    const { code, stderr } = await fresh.run(personal);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/Certain: 0 accepted, 3 not sent yet; nothing in doubt/);
  });

  it('will not take what is in doubt into a new job', async () => {
    const here = desk(people(1));
    expect(await here.run(`${constant} --only in_doubt`)).toMatchObject({ code: 2 });
  });

  it('is one process per job', async () => {
    const here = desk(people(2));
    await here.run(personal);
    const lock = await lockFolder(dirname(here.jobFile('july', 'x')));
    const { code, stderr } = await here.run(personal);
    expect(code).toBe(11);
    expect(stderr).toContain(`process ${process.pid}`);
    if (lock.held) await lock.release();
  });

  it('finishes what is in flight after Ctrl-C, dies by the signal, and goes on later', async () => {
    const here = desk(people(30));
    let interrupt: (signal: 'SIGINT') => void = () => {};
    here.project.options.instead = ({ method }) => {
      if (method === 'POST' && here.project.messages.length === 5) interrupt('SIGINT');
      return undefined;
    };
    const { code, stderr } = await here.run(`${personal} --wait`, {
      onSignal: (listener) => {
        interrupt = listener;
        return () => {};
      },
    });
    expect(code).toBe('SIGINT');
    expect(stderr).toMatch(
      /Stopped\. Certain: \d+ accepted, \d+ not sent yet; nothing in doubt\. Go on with: /,
    );
    expect(here.project.messages.length).toBeLessThan(20);
    expect(await here.run(personal)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(Array(30).fill(1));
  });
});

describe('urtuu email bulk', () => {
  it('sends batches and singles, and waits for both', async () => {
    const here = desk([]);
    here.write('list.csv', ['email,name', 'a@example.mn,A', 'b@example.mn,B']);
    const line = "email bulk list.csv --subject 'Hi {name}' --text Hello --yes --job mail --wait --json";
    const { code, stdout } = await here.run(line);
    expect(code).toBe(0);
    expect(figures(stdout)).toMatchObject({ planned: 2, accepted: 2, credits: 4 });
    expect(here.project.messages.map(({ status }) => status)).toEqual(['sent', 'sent']);
  });
});

describe('urtuu jobs', () => {
  it('lists, shows and removes them', async () => {
    const here = desk(people(5), { credits: 25 });
    expect(await here.run('jobs list --json')).toMatchObject({ code: 0, stdout: '[]\n' });
    await here.run(personal);
    expect(JSON.parse((await here.run('jobs list --json')).stdout)).toMatchObject([
      { job: 'july', state: 'unfinished', planned: 5, accepted: 2, pending: 3 },
    ]);
    expect(figures((await here.run('jobs show july --json')).stdout)).toMatchObject({ exit: 7 });
    expect(await here.run('jobs remove july')).toMatchObject({ code: 11 });
    expect(await here.run('jobs remove july --force')).toMatchObject({ code: 0 });
    expect(here.jobs).toEqual([]);
    expect(await here.run('jobs show july')).toMatchObject({ code: 12 });
    expect(await here.run('jobs show ../../etc')).toMatchObject({ code: 12 });
  });

  it('shows one to a person as it is read, without what there is none of', async () => {
    const here = desk(people(1_002), { credits: 20 });
    await here.run(`${personal} --concurrency 1`);
    const { stdout } = await here.run('jobs show july');
    expect(stdout).toMatch(/\nplanned +1,002\naccepted +2\npending +1,000\ncredits +20\n$/);
    expect((await here.run('jobs show july --columns planned,failed')).stdout).toMatch(
      /^planned +1002\nfailed +0\n$/,
    );
  });

  it('says how much is left of one that it does not remove', async () => {
    const here = desk(people(1_002), { credits: 20 });
    await here.run(`${personal} --concurrency 1`);
    const { stderr } = await here.run('jobs remove july');
    expect(stderr).toContain('is not finished: 1,000 pending, 0 in doubt');
    expect(stderr).toContain('Go on with: urtuu jobs resume july; or');
  });

  it('lists them as a table where the terminal has 80 columns', async () => {
    const here = desk(people(3));
    await here.run("sms bulk list.csv --text 'Hello' --yes");
    await here.run("sms bulk list.csv --text 'Hello' --yes --again");
    const { stdout } = await here.run('jobs list --no-color', { terminal: 80 });
    const [header, ...lines] = stdout.trimEnd().split('\n');
    expect(header).toMatch(/^JOB +STATE +CREATED AT +PLANNED +ACCEPTED$/);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^sms-[0-9a-f]{20}\.2 +finished +2026-11-21 \S+ +3 +3$/);
  });

  it('resumes without the file, and only at the service it was made for', async () => {
    const here = desk(people(5), { credits: 25 });
    await here.run(personal);
    rmSync(`${here.home}/list.csv`);
    here.project.balance = 1_000;
    const elsewhere = await here.run('jobs resume july --base-url http://127.0.0.1:9999/v1');
    expect(elsewhere).toMatchObject({ code: 11 });
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    const again = await here.run('jobs resume july');
    expect(again).toMatchObject({ code: 11 });
    // It is no option of this command.
    expect(again.stderr).toContain('give the bulk command --again');
  });

  it('writes the report later, also to standard output', async () => {
    const here = desk(people(2));
    await here.run(constant);
    const { stdout } = await here.run('jobs report july');
    expect(stdout).toMatch(/^99000000,Bat 0,[0-9a-f-]{36},[0-9a-f-]{36},sent,,10,2\r$/m);
    const before = here.project.service.requests.length;
    const offline = await here.run('jobs report july --offline');
    expect(offline.stdout).toMatch(/^99000000,Bat 0,,[0-9a-f-]{36},queued,,10,2\r$/m);
    expect(here.project.service.requests.length).toBe(before);
    await here.run('jobs report july --report out.csv');
    expect(here.read('out.csv')).toBe(stdout);
    expect(existsSync(`${here.home}/out.csv.part`)).toBe(false);
  });
});
