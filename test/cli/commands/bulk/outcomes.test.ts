import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockFolder } from '../../../../src/cli/platform/lock.js';
import type { FetchLike } from '../../../../src/client/index.js';
import { smsMessage } from '../../../support/resources.js';
import { answers, fullOutput, refusal } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
import { checksummed, type Encoded } from '../../bulk/journal-lines.js';
import { numbers } from '../../bulk/memory-plan.js';
import { constant, desk, figures, people, personal } from './desks.js';

describe('the outcome of a bulk job', () => {
  it('counts a single that was answered as failed for failed, exit 9', async () => {
    const here = desk(people(2));
    here.project.options.instead = ({ method, path, body }) => {
      if (method !== 'POST' || path !== '/sms') return undefined;
      const error = { code: 'provider_failed', message: 'no' };
      const to = String(body?.to);
      return { body: { ...smsMessage({ status: 'failed', error, credits: 0 }), id: `m${to}`, to } };
    };
    const { code, stderr } = await here.run(personal);
    expect(code).toBe(9);
    expect(stderr).toContain('0 accepted, 2 failed and refunded. Nothing is in doubt.');
  });

  it('prints its figures, exit 13, where the report cannot read its plan any more', async () => {
    const here = desk(people(3));
    here.project.options.instead = () => {
      rmSync(join(here.home, '.local/state/urtuu/jobs/july/lines'), { force: true });
      return undefined;
    };
    const end = await here.run(`${personal} --report report.csv --json`);
    expect(end.code).toBe(13);
    expect(figures(end.stdout)).toMatchObject({ accepted: 3 });
    expect(end.stderr).toContain('a file of the job could not be used');
  });

  it.each([0, 1])(
    'says what was sent where its figures cannot be written, exit 13: %i failed',
    async (failed) => {
      const here = desk(people(3), { failing: new Set(numbers(failed)) });
      const { code, stderr } = await here.run(`${personal} -q --base-url https://b.example/v1`, {
        stdout: fullOutput(),
      });
      expect(code).toBe(13);
      expect(stderr).toContain(
        `The job july has ended: ${3 - failed} of 3 accepted; do not start it again. See: urtuu jobs show july --base-url https://b.example/v1\n`,
      );
      expect(stderr.match(/standard output/g)).toHaveLength(1);
      const other = desk(people(3), { failing: new Set(numbers(failed)) });
      const json = await other.run(`${personal} --json`, { stdout: fullOutput() });
      expect(json.code).toBe(13);
      expect(JSON.parse(json.stderr).error).toMatchObject({
        exit: 13,
        job: 'july',
        accepted: 3 - failed,
        errno: 'ENOSPC',
      });
      expect(other.project.received().size).toBe(3 - failed);
    },
  );

  it('names the job for a program where its figures cannot be written and it is not done', async () => {
    const here = desk(people(3), { credits: 25 });
    const { code, stderr } = await here.run(`${personal} --allow-partial --json`, { stdout: fullOutput() });
    expect(code).toBe(7);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { exit: 7, job: 'july', accepted: 2, pending: 1 },
      warnings: ['standard output could not be written: ENOSPC'],
    });
  });

  it('asks before it tries failed singles of a finished job again, or needs --yes', async () => {
    const failing = new Set(numbers(1));
    const here = desk(people(3), { failing });
    expect(await here.run(personal)).toMatchObject({ code: 3 });
    failing.clear();
    const again = `${personal.replace(' --yes', '')} --retry-failed`;
    expect(await here.run(again)).toMatchObject({ code: 2 });
    const questions = answers(false, true);
    expect(await here.run(again, { terminal: 80, questions })).toMatchObject({ code: 2 });
    expect(questions.asked[0]).toBe('Send to 1 recipient for 10 credits?');
    expect(here.project.received().size).toBe(2);
    expect(await here.run(again, { terminal: 80, questions })).toMatchObject({ code: 0 });
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
    expect(header).toBe('phone,name,message_id,batch_id,status,error_code,credits,line,delivery,job');
    expect(rows.filter((row) => row.includes(',sent,'))).toHaveLength(1_190);
    failing.clear();
    expect(
      await here.run("sms bulk report.csv --only failed --text 'Hello' --yes --job more --json"),
    ).toMatchObject({ code: 0 });
    expect(here.project.sends.at(-1)?.body?.to).toEqual(all.slice(500, 510));
    expect([...here.project.received().values()].every((count) => count === 1)).toBe(true);
  });

  it('says with every request, also of a resume and a retry, that it is of class bulk', async () => {
    const failing = new Set(numbers(1));
    const here = desk(people(5), { credits: 25, failing });
    await here.run(`${personal} --allow-partial`);
    here.project.balance = 1_000;
    await here.run('jobs resume july');
    failing.clear();
    await here.run('jobs retry july --yes');
    await here.run(constant.replace('july', 'all'));
    here.write('mail.csv', ['email,name', 'a@ex.mn,Bat', 'b@ex.mn,Sara']);
    await here.run("email bulk mail.csv --subject s --text 'Hi {name}' --yes");
    const classes = here.project.sends.map(({ headers }) => headers['Urtuu-Class']);
    expect(here.project.sends.map(({ path }) => path)).toContain('/sms/bulk');
    expect(new Set(classes)).toEqual(new Set(['bulk']));
    expect(classes.length).toBeGreaterThan(7);
    await here.run('sms send 99112233 Hi');
    expect(here.project.sends.at(-1)?.headers['Urtuu-Class']).toBeUndefined();
  });

  describe('with recipients on the do-not-send list', () => {
    const some = new Set(numbers(2));

    it.each([
      ['of batches', constant, true],
      ['of single sends', personal, false],
    ])('%s, counts them apart, exit 0, and no command takes them again', async (_, line, isBatch) => {
      const here = desk(people(5), { suppressed: some });
      const { code, stdout, stderr } = await here.run(`${line} --wait --report report.csv --json`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const counted = { planned: 5, accepted: 3, sent: 3, failed: 0, suppressed: 2, rejected: 0 };
      expect(figures(stdout)).toMatchObject({ ...counted, exit: 0, balance: 999_970 });
      expect((await here.run('jobs show july --json')).stdout).toContain('"suppressed": 2');
      expect((await here.run('jobs watch july')).stderr).toContain(
        '3 sent, 2 suppressed (on the do-not-send list). ',
      );
      const rows = here.read('report.csv').split('\r\n');
      const first = new RegExp(
        `^99000000,Bat 0,.*,suppressed,recipient_suppressed,${isBatch ? '0' : ''},2,,july$`,
      );
      expect(rows[1]).toMatch(first);
      expect((await here.run('jobs retry july --yes')).stderr).toContain(
        'the job july has no failed messages',
      );
      const again = await here.run('sms bulk report.csv --only failed,rejected,pending --like july --yes');
      expect(again).toMatchObject(saying(8, 'Nothing is left to send'));
      const only = await here.run('sms bulk report.csv --only suppressed --like july --yes');
      expect(only).toMatchObject(saying(2, 'on the do-not-send list'));
    });

    it.each([constant, personal])('who are all, exit 9: %s', async (line) => {
      const here = desk(people(2), { suppressed: some });
      const { code, stderr } = await here.run(`${line} --wait`);
      expect(code).toBe(9);
      expect(stderr).toContain('2 suppressed (on the do-not-send list). ');
      expect(stderr).not.toContain('urtuu ');
    });

    it('and others that failed, exit 3; only those are sent again', async () => {
      const failing = new Set(numbers(1, 3));
      const here = desk(people(5), { suppressed: some, failing });
      expect(await here.run(`${constant} --wait`)).toMatchObject(
        saying(3, '2 sent, 1 failed and refunded, 2 suppressed'),
      );
      failing.clear();
      expect(await here.run('jobs retry july --yes')).toMatchObject({ code: 0 });
      expect(here.project.sends.at(-1)?.body?.to).toEqual(numbers(1, 3)[0]);
    });

    it('sends to those who have left it, in a new job with --skip-sent', async () => {
      const suppressed = new Set(numbers(2));
      const here = desk(people(5), { suppressed });
      await here.run(`${constant} --wait --report report.csv`);
      suppressed.clear();
      const next = constant.replace('july', 'august');
      expect(await here.run(`${next} --skip-sent`)).toMatchObject({ code: 0 });
      expect(here.project.sends.at(-1)?.body?.to).toEqual(numbers(2));
    });

    it('refuses an older report with somebody who is on it by now', async () => {
      const suppressed = new Set<string>();
      const here = desk(people(3), { credits: 25, suppressed });
      await here.run(`${personal} --allow-partial --report report.csv`);
      suppressed.add(numbers(3)[2] ?? '');
      here.project.balance = 1_000;
      expect(await here.run('jobs resume july')).toMatchObject(saying(0, '2 accepted, 1 suppressed'));
      const again = await here.run('sms bulk report.csv --only pending --like july --yes');
      expect(again).toMatchObject(saying(11, 'the do-not-send list of the service now has 1 of these rows'));
    });

    it('counts them as failed if the service does not list them', async () => {
      const here = desk(people(5), { suppressed: some, listing: false });
      expect(await here.run(`${constant} --wait`)).toMatchObject({ code: 3 });
    });

    it('learns of them from the report of a job whose figures an earlier release has read', async () => {
      const here = desk(people(5), { suppressed: some });
      await here.run(`${constant} --wait`);
      const journal = here.jobFile('july', 'journal');
      const lines = readFileSync(journal, 'utf8').trim().split('\n');
      const entries = lines.map((line) => JSON.parse(line.slice(line.indexOf(' '))) as Encoded[]);
      const earlier = entries.map((line) =>
        line.map((entry) => (entry[0] === 'final' ? entry.slice(0, 6) : entry)),
      );
      writeFileSync(journal, earlier.map((line) => checksummed(line as Encoded[])).join(''));
      expect((await here.run('jobs show july --json')).stdout).toContain('"failed": 2');
      expect((await here.run('jobs retry july --yes')).stderr).toContain(
        'the job july has no failed messages',
      );
      expect((await here.run('jobs show july --json')).stdout).toContain('"failed": 0');
    });
  });

  it('prints the balance after the refunds with --wait', async () => {
    const here = desk(people(3), { credits: 1_000, failing: new Set(numbers(1)) });
    const { code, stdout } = await here.run(`${constant} --wait --json`);
    expect(code).toBe(3);
    expect(figures(stdout)).toMatchObject({ accepted: 2, failed: 1, credits: 30, balance: 980 });
    expect((await here.run('jobs watch july --value balance')).stdout).toBe('980\n');
  });

  it('prints no balance if it cannot be read after the refunds', async () => {
    const here = desk(people(3), { credits: 1_000, failing: new Set(numbers(1)) });
    expect(figures((await here.run(`${constant} --json`)).stdout)).toMatchObject({ balance: 970 });
    here.project.options.instead = ({ path }) =>
      path === '/balance' ? refusal(403, 'forbidden') : undefined;
    const { code, stdout } = await here.run('jobs resume july --wait --yes --json');
    expect(code).toBe(3);
    expect(figures(stdout)).toMatchObject({ accepted: 2, failed: 1, balance: null });
    expect(figures((await here.run('jobs watch july --json')).stdout)).toMatchObject({ balance: null });
  });

  it('asks for no other balance where nothing was refunded', async () => {
    const here = desk(people(3), { credits: 1_000 });
    const { stdout } = await here.run(`${constant} --wait --json`);
    expect(figures(stdout)).toMatchObject({ accepted: 3, balance: 970 });
    expect(here.project.service.requests.filter(({ path }) => path === '/balance')).toHaveLength(1);
  });

  it.each([
    ['', ''],
    [' once their end is known', ' --wait'],
  ])('finds in the report a key that was used for as many others%s', async (_, wait) => {
    const one = desk(people(3));
    const other = desk([]);
    const strangers = numbers(2, 500).map((number) => `${number},Bat`);
    other.write('list.csv', ['phone,name', ...people(1), ...strangers]);
    await one.run(constant);
    const used = one.project.sends[0]?.headers['Idempotency-Key'] ?? '';
    const fetch: FetchLike = (url, init) => {
      const headers = init.method === 'POST' ? { ...init.headers, 'Idempotency-Key': used } : init.headers;
      return one.project.service.fetch(url, { ...init, headers });
    };
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

  it('says what is certain also when the program itself fails', async () => {
    const fresh = desk(people(3));
    fresh.project.options.instead = ({ method }) => {
      if (method !== 'POST') return undefined;
      // What a plan that vanishes under a running job does.
      rmSync(fresh.jobFile('july', 'bodies'), { force: true });
      return refusal(429, 'recipient_rate_limited');
    };
    const { code, stderr } = await fresh.run(personal);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/0 accepted, 3 not sent yet\. Nothing is in doubt/);
  });

  it('says that the rest is over its cap for longer than it may wait', async () => {
    const here = desk(people(3));
    const [capped] = numbers(1);
    here.project.options.instead = ({ method, body }) =>
      method === 'POST' && body?.to === capped
        ? { ...refusal(429, 'recipient_rate_limited'), headers: { 'retry-after': '600' } }
        : undefined;
    const { code, stderr } = await here.run(`${personal} --max-wait 30s`);
    expect(code).toBe(5);
    expect(stderr).toContain(
      'Some recipients are over their cap. 2 accepted, 1 not sent yet. Nothing is in doubt. Resume with: ',
    );
    const { error } = JSON.parse((await here.run(`${personal} --max-wait 30s --json`)).stderr);
    expect(error).toMatchObject({ code: 'unfinished', cause: 'recipient_rate_limited' });
  });

  it('says until when the service is quiet, and does not wait for it', async () => {
    const here = desk(people(3));
    here.project.options.instead = ({ method }) =>
      method === 'POST'
        ? { ...refusal(429, 'rate_limited'), headers: { 'retry-after': '39600' } }
        : undefined;
    // 21:00 where this runs.
    const evening = new Date(2026, 6, 1, 21).getTime();
    const { code, stderr } = await here.run(personal, { clock: { now: () => evening } });
    expect(code).toBe(5);
    expect(stderr).toContain(
      'The service accepts nothing until 08:00. 0 accepted, 3 not sent yet. Nothing is in doubt. Resume then: urtuu jobs resume ',
    );
    expect(here.project.sends.length).toBeLessThanOrEqual(3);
    here.project.options.instead = () => undefined;
    expect(await here.run(personal)).toMatchObject({ code: 0 });
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
    expect(stderr).toContain(`pid ${process.pid}`);
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
    expect(stderr).toMatch(/Stopped\. \d+ sent, \d+ not sent yet\. Nothing is in doubt\. Resume with: /);
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
