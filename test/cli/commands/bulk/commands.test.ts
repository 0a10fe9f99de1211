import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pricing } from '../../../support/resources.js';
import { answers, refusal } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
import { countsWith } from '../../bulk/counts.js';
import { numbers } from '../../bulk/memory-plan.js';
import { constant, desk, figures, partly, people, personal } from './desks.js';

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
      ...countsWith({ queued: 4 }),
      moved_to: [],
      merged: 0,
      excluded: 0,
      later: 0,
      credits: 40,
      balance: 999_960,
      batches: [
        {
          id: expect.any(String),
          recipients: 4,
          credits: 40,
          sent: null,
          failed: null,
          unknown: null,
          suppressed: null,
        },
      ],
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
    const [, at] = /finished at (.*)\n/.exec(again.stderr) ?? [];
    const forPrograms = JSON.parse((await here.run(`${personal} --json`)).stderr);
    expect(forPrograms.error.ended_at).toMatch(/^2026-11-21T00:00:0\d\.\d{3}Z$/);
    expect(new Date(`${at}`).getTime()).toBe(
      Math.floor(Date.parse(forPrograms.error.ended_at) / 1_000) * 1_000,
    );
    expect(here.project.sends).toHaveLength(3);
    const repeated = await here.run(`${personal} --again`);
    expect(repeated).toMatchObject(
      saying(0, 'Again       everyone on the list will get the message again\n'),
    );
    expect([...here.project.received().values()]).toEqual([2, 2, 2]);
    expect(here.jobs.sort()).toEqual(['july', 'july.2']);
    expect(new Set(here.project.sends.map(({ headers }) => headers['Idempotency-Key'])).size).toBe(6);
  });

  it('goes on with an unfinished repeat instead of starting another one', async () => {
    const here = desk(people(3));
    await here.run(personal);
    here.project.balance = 10;
    expect(await here.run(`${partly} --again`)).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    expect(await here.run(`${personal} --again`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([2, 2, 2]);
    expect(here.jobs.sort()).toEqual(['july', 'july.2']);
  });

  it('makes the same keys from the same file and message on another machine', async () => {
    const one = desk(people(3));
    const other = desk(people(3));
    const line = "sms bulk list.csv --text 'Hello {name}' --yes";
    await one.run(line);
    const { fetch } = one.project.service;
    const { code, stderr } = await other.run(line, { fetch });
    expect(code).toBe(11);
    expect([...one.project.received().values()]).toEqual([1, 1, 1]);
    expect(stderr).toContain('3 answers came from earlier requests');
  });

  it('sends nothing twice when the journal was lost', async () => {
    const here = desk(people(3));
    await here.run(personal);
    rmSync(here.jobFile('july', 'journal'));
    expect(await here.run(personal)).toMatchObject({ code: 11 });
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
    expect(stderr).toContain('never add --retry-failed');
    expect(here.project.sends).toHaveLength(3);
  });

  it('ends a request of 1,000 with 120 refused numbers as 880 accepted and 120 rejected, by line', async () => {
    const all = numbers(1_000);
    const unsupported = new Set(all.filter((_, index) => index % 8 === 3).slice(0, 120));
    const here = desk(people(1_000), { unsupported });
    const { code, stdout } = await here.run(`${constant} --json --report report.csv`);
    expect(code).toBe(3);
    expect(figures(stdout)).toMatchObject({ planned: 1_000, accepted: 880, rejected: 120, exit: 3 });
    const rows = here.read('report.csv').trim().split('\r\n').slice(1);
    const rejected = rows.filter((row) => row.includes(',rejected,invalid_request,'));
    expect(rejected.map((row) => Number(row.split(',').at(-3)))).toEqual(
      all.flatMap((number, index) => (unsupported.has(number) ? [index + 2] : [])),
    );
    expect([...here.project.received().values()].every((count) => count === 1)).toBe(true);
    expect(here.project.received().size).toBe(880);
  });

  it('says at a terminal how to go on in whole words, and the command in one piece', async () => {
    const here = desk(people(5), { credits: 25 });
    const { code, stderr } = await here.run(`${partly} --no-color`, { terminal: 50 });
    expect(code).toBe(7);
    for (const line of stderr.split('\n')) expect(line.length).toBeLessThanOrEqual(50);
    expect(stderr).toMatch(
      /warning: Stopped: out of credits. 2 accepted,\n(?: {9}.*\n)+ {2}urtuu jobs resume july\n$/,
    );
  });

  it.each([
    [
      'unauthorized',
      refusal(401, 'unauthorized'),
      4,
      'Resume with the same API key, once it may send: urtuu jobs resume july --max-wait 1s',
    ],
    [
      'forbidden',
      refusal(403, 'forbidden'),
      4,
      'Resume with the same API key, once it may send: urtuu jobs resume july --max-wait 1s',
    ],
    ['not_found', refusal(404, 'not_found'), 12, 'Resume with: urtuu jobs resume july --max-wait 1s'],
    [
      'a service that is away',
      new Error('ECONNREFUSED'),
      6,
      'Resume with: urtuu jobs resume july --max-wait 1s',
    ],
  ])('ends with the right code for %s, and the same command goes on', async (_, reply, exit, way) => {
    const here = desk(people(2));
    here.project.options.instead = ({ method }) => (method === 'POST' ? reply : undefined);
    const { code, stderr } = await here.run(`${personal} --max-wait 1s`);
    expect(code).toBe(exit);
    expect(stderr).toMatch(/0 accepted.*Resume with/);
    expect(stderr).toContain(`${way}\n`);
    delete here.project.options.instead;
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1]);
  });

  it.each(['', '/v1/sms', '/v1/sms/bulk', '/v1/email', '/v1/verify', '/v1/messages'])(
    'makes no job for a base URL that ends in %j, exit 12, and names the right one',
    async (end) => {
      const here = desk(people(2));
      here.project.options.instead = () => refusal(404, 'not_found');
      for (const line of [personal, constant]) {
        expect(await here.run(`${line} --base-url https://sms.example.mn${end}`)).toMatchObject(
          saying(12, 'the base URL ends in the version: https://sms.example.mn/v1\n'),
        );
      }
      expect(here.project.sends).toEqual([]);
      delete here.project.options.instead;
      expect(await here.run(personal)).toMatchObject({ code: 0 });
    },
  );

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
    expect(refusing).toMatchObject(saying(8, 'list.csv:3'));
    expect(here.project.sends).toEqual([]);
    const { code, stdout } = await here.run(`${constant} --skip-invalid --json --report report.csv`);
    expect(code).toBe(3);
    expect(figures(stdout)).toMatchObject({ planned: 2, accepted: 1, rejected: 1 });
    expect(here.read('report.csv')).toMatch(/^nobody,Dorj,,,rejected,.*,3,,july\r$/m);
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
    const { code, stdout, stderr } = await here.run(`${personal} --max-credits 40 --concurrency 1 --json`);
    expect(code).toBe(7);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'over_max_credits', exit: 7 });
    expect(figures(stdout)).toMatchObject({ accepted: 2, credits: 30, pending: 2 });
  });
});

describe('the balance of a run', () => {
  it('is what its own sends were answered, and null if nothing new was sent', async () => {
    const here = desk(people(3), { credits: 20 });
    const first = await here.run(`${personal} --allow-partial --concurrency 1 --json`);
    expect(figures(first.stdout)).toMatchObject({ accepted: 2, balance: 0 });
    here.project.balance = 1_000;
    const limited = await here.run('jobs resume july --max-credits 20 --json');
    expect(figures(limited.stdout)).toMatchObject({ accepted: 2, balance: null });
    expect(await here.run('jobs resume july --max-credits 30')).toMatchObject({ code: 0 });
    rmSync(here.jobFile('july', 'journal'));
    const again = await here.run(`${personal} --if-finished ok --json`);
    expect(figures(again.stdout)).toMatchObject({ accepted: 3, balance: null });
  });
});

describe('a job that costs more than was planned', () => {
  const dearer = () => {
    const here = desk(people(6));
    const { options } = here.project;
    options.instead = ({ method, body }) =>
      method === 'POST'
        ? {
            body: {
              id: `m${body?.to}`,
              to: body?.to,
              status: 'sent',
              credits: here.project.sends.length <= 3 ? 10 : 40,
              balance: 900,
            },
          }
        : undefined;
    return here;
  };

  it('names a limit with which it finishes', async () => {
    const here = dearer();
    const { code, stderr } = await here.run(`${personal} --max-credits 60 --concurrency 1`);
    expect(code).toBe(7);
    const command = /urtuu (jobs resume july .*--max-credits \d+.*)$/m.exec(stderr)?.[1] ?? '';
    expect(await here.run(command)).toMatchObject({ code: 0 });
  });

  it('asks for what is left at the prices of today', async () => {
    const here = dearer();
    await here.run(`${personal} --max-credits 60 --concurrency 1`);
    const { instead } = here.project.options;
    const today = { ...pricing, sms: { ...pricing.sms, credits_per_part: 40 } };
    here.project.options.instead = (request) =>
      request.path === '/pricing' ? { body: today } : instead?.(request);
    const { stderr } = await here.run(`${personal} --max-credits 900`);
    expect(stderr).toMatch(/^Credits {5}80 of /m);
  });
});

describe('a bulk command without its required values', () => {
  it.each([
    ['sms bulk', '<file>, --text, --yes or --dry-run'],
    ['sms bulk --yes', '<file>, --text'],
    ['sms bulk list.csv', '--text, --yes or --dry-run'],
    ['sms bulk --text hi --dry-run', '<file>'],
    ['email bulk', '<file>, --subject, --text or --html, --yes or --dry-run'],
    ['email bulk --html x list.csv --yes', '--subject'],
  ])('names all of them at once: %s', async (line, missing) => {
    const here = desk(people(1));
    expect(await here.run(line)).toMatchObject(saying(2, `missing: ${missing}\n`));
  });

  it('asks for them at a terminal', async () => {
    const here = desk(people(1));
    const questions = answers('list.csv', 'Hello', true);
    expect(await here.run('sms bulk', { terminal: 80, questions })).toMatchObject({ code: 0 });
    expect(questions.asked).toEqual([
      'CSV file:',
      'Text ({phone} {name}):',
      expect.stringContaining('Send to 1 recipient'),
    ]);
    expect(here.project.sends).toHaveLength(1);
  });
});
