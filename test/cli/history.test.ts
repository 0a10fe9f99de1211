import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answers, fakeService, refusal } from '../support/run.js';
import { CommandHome } from './command-home.js';

let home: CommandHome;
const here: CommandHome['here'] = (line, setting) => home.here(line, { cwd: home.path, ...setting });
const state = () => join(home.path, '.local/state/urtuu');
const file = () => join(state(), 'history.ndjson');
const entries = () =>
  readFileSync(file(), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const history = async (options = '') => JSON.parse((await here(`history ${options} --json`)).stdout);

beforeEach(async () => {
  home = new CommandHome();
  await home.open();
  rmSync(file());
});
afterEach(() => home.close());

describe('urtuu history', () => {
  it('has every send of this machine with id, status and key, and no text', async () => {
    const { id } = await home.json("sms send 99112244 'a secret'");
    await here('email send bat@example.mn --subject s --text secret');
    await here('sms send 99000001 hi --max-retries 0');
    await here('sms send 99000012 hi --max-retries 0 --idempotency-key k-1');
    await here('verify create 99112255');
    await here('sendmail -t', { stdin: 'To: cron@example.mn\nSubject: s\n\nsecret\n' });
    await here("api POST '/v1/sms?trace=1' -f to=99112266 -f text=secret");
    await here('sms bulk two.csv --text secret --job june --yes');
    const shown = await history();
    expect(shown.map((entry: Record<string, unknown>) => [entry.command, entry.to, entry.status])).toEqual([
      ['sms bulk', null, 'finished'],
      ['api', '99112266', 'sent'],
      ['sendmail', 'cron@example.mn', 'queued'],
      ['verify create', '99112255', 'pending'],
      ['sms send', '99000012', 'in_doubt'],
      ['sms send', '99000001', 'failed'],
      ['email send', 'bat@example.mn', 'queued'],
      ['sms send', '99112244', 'sent'],
    ]);
    expect(shown.at(-1)).toMatchObject({ id, base_url: 'sandbox', profile: null, channel: 'sms', job: null });
    expect(shown.at(-1).key).toMatch(/^[0-9a-f-]{36}$/);
    expect(shown[4]).toMatchObject({ key: 'k-1', id: null });
    expect(shown[0]).toMatchObject({ job: 'june', planned: 2, accepted: 2, failed: 0, pending: 0 });
    expect(readFileSync(file(), 'utf8')).not.toContain('secret');
    expect((statSync(file()).mode & 0o777).toString(8)).toBe('600');
    expect((await here('history --since 2001-01-01 --limit 3')).stderr).toBe(
      'Showing the newest 3 of 8; raise --limit to see more.\nTotal: 54 credits and 1 send of unknown price.\n',
    );
    expect((await here('history')).stdout).toMatch(
      /^TIME +STATUS +TO +CREDITS\n\S+ \S+ +finished +june \(2 recipients\) +20\n/,
    );
  });

  it('has what may have been sent without an answer, and what the operator refused', async () => {
    await here('verify create 99000012');
    const { stderr } = await here('verify create 99000001');
    expect(stderr).not.toContain('idempotency key');
    await here('sendmail -t --max-retries 0', { stdin: 'To: fault-drop-after@b.mn\nSubject: s\n\nhi\n' });
    const found: Record<string, unknown>[] = await history();
    expect(found.map(({ command, to, status }) => [command, to, status])).toEqual([
      ['sendmail', 'fault-drop-after@b.mn', 'in_doubt'],
      ['verify create', '99000001', 'failed'],
      ['verify create', '99000012', 'in_doubt'],
    ]);
    expect(found[0]?.key).toEqual(expect.any(String));
  });

  it('has one entry for a send that was repeated under its key, and for a job that went on', async () => {
    await here('sms send 99000012 hi --max-retries 0 --idempotency-key k-2');
    await here('sms send 99000012 hi --max-retries 2 --idempotency-key k-2');
    expect(entries()).toHaveLength(2);
    expect(await history()).toMatchObject([{ key: 'k-2', status: 'sent' }]);
  });

  it('finds a number in bulk jobs too', async () => {
    await here('sms send 99119002 hi');
    await here('sms bulk two.csv --text hello --job june --yes');
    const found = await history("--to '+976 9911-9002'");
    expect(
      found.map(({ command, job, to, status }: Record<string, unknown>) => [command, job, to, status]),
    ).toEqual(
      expect.arrayContaining([
        ['sms send', null, '99119002', 'sent'],
        ['sms bulk', 'june', '99119002', 'queued'],
        ['sms bulk', 'july', '99119002', 'queued'],
      ]),
    );
    expect(found).toHaveLength(3);
    expect((await here('history --to 88118811')).stderr).toBe('No sends in the history match.\n');
  });

  it('says which jobs it cannot search, since they were removed', async () => {
    await here('sms bulk two.csv --text hello --job june --yes');
    await here('jobs remove june --yes');
    const { stdout, stderr } = await here('history --to 99112233 --since 1m');
    expect(stdout + stderr).toMatch(/^warning: removed jobs are not searched: june$/m);
    expect((await here('history --since 1m')).stderr).not.toContain('removed');
  });

  it('has a job whose process was killed, with unknown counts', async () => {
    await here('sms bulk two.csv --text hello --job june --yes');
    // The line at the end of a run is missing where the process was killed.
    const [start, end] = entries().slice(-2);
    writeFileSync(file(), `${JSON.stringify(start)}\n`);
    expect(await history()).toMatchObject([
      { job: 'june', status: 'unfinished', planned: 2, accepted: null },
    ]);
    expect(end).toMatchObject({ job: 'june', status: 'finished', accepted: 2 });
  });

  it('is of one job, or of a time, with what it cost', async () => {
    const at = (day: number) => ({ clock: { now: () => Date.UTC(2026, 10, day, 12) } });
    await here('sms send 99112244 hi', at(1));
    await here('sms bulk two.csv --text hello --job june --yes', at(2));
    await here('sms bulk two.csv --text hallo --job other --yes', at(2));
    await here('sms send 99112244 Сайн', at(3));
    const jobs = async (options: string) =>
      JSON.parse((await here(`history ${options} --json`, at(3))).stdout).map(
        ({ job, credits }: Record<string, unknown>) => [job, credits],
      );
    expect(await jobs('--job june')).toEqual([['june', 20]]);
    expect(await jobs('--since 2026-11-02 --until 2026-11-03')).toEqual([
      ['other', 20],
      ['june', 20],
    ]);
    const { stderr } = await here('history', at(3));
    expect(stderr).toBe('Total: 60 credits.\n');
    const { fetch } = fakeService(() => ({
      body: { id: 'm', status: 'sent', channel: 'sms', to: '99112233', credits: 15 },
    }));
    const env = { URTUU_API_KEY: 'a-key-of-nobody', URTUU_BASE_URL: 'https://sms.example.mn/v1' };
    await here('sms send 99112233 hi', { ...at(3), env, fetch });
    expect((await here('history', at(3))).stderr).toBe(
      'Total: 15 credits at https://sms.example.mn/v1, 60 credits in the sandbox.\n',
    );
  });

  it('fits 80 columns as a table', async () => {
    await here('sms send 99112244 hi');
    await here('email send somebody.named@example.mn --subject s --text t');
    await here('sms bulk two.csv --text hello --job june-offer --yes');
    const { stdout } = await here('history --no-color', { terminal: 80 });
    expect(stdout).toMatch(/^TIME +STATUS +TO +CREDITS\n/);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('names service and profile', async () => {
    const { fetch } = fakeService(() => ({
      body: { id: 'm', status: 'sent', channel: 'sms', to: '99112233' },
    }));
    const env = { URTUU_API_KEY: 'a-key-of-nobody', URTUU_BASE_URL: 'https://sms.example.mn/v1' };
    await here('sms send 99112233 hi', { env, fetch });
    expect(await history()).toMatchObject([
      { base_url: 'https://sms.example.mn/v1', profile: 'default', id: 'm' },
    ]);
    await here('sms send 99112233 hi', {
      env,
      fetch: fakeService(() => refusal(402, 'insufficient_credits')).fetch,
    });
    expect(await history()).toHaveLength(1);
  });

  describe('after 90 days', () => {
    const day = 86_400_000;
    const start = Date.parse('2026-11-21T00:00:00.000Z');
    const at = (days: number) => ({ clock: { now: () => start + days * day } });
    const write = (...days: number[]) => {
      const lines = days.map((each) => {
        const entry = {
          time: new Date(start + each * day).toISOString(),
          status: 'sent',
          key: `day ${each}`,
        };
        return `${JSON.stringify(entry)}\n`;
      });
      writeFileSync(file(), lines.join(''));
    };
    const send = (days: number) => here(`sms send 99112244 hi --idempotency-key 'day ${days}'`, at(days));
    const keys = () => entries().map(({ key }) => key);

    it('forgets, when it is next written', async () => {
      write(-100, -92, -89, -1);
      const { stdout } = await here('history --json', at(0));
      expect(JSON.parse(stdout)).toHaveLength(2);
      expect(keys()).toEqual(['day -100', 'day -92', 'day -89', 'day -1']);
      await send(0);
      expect(keys()).toEqual(['day -89', 'day -1', 'day 0']);
    });

    it('forgets nothing by a clock that is wrong', async () => {
      write(-100, -89, -1);
      expect((await here('history', at(26_000))).stderr).toBe('No sends in the last 90 days.\n');
      await send(26_000);
      expect(keys()).toEqual(['day -100', 'day -89', 'day -1', 'day 26000']);
      await send(-20_000);
      expect(keys()).toHaveLength(5);
      // It is right again: the newest entry but one is of yesterday.
      await send(0);
      expect(keys()).toEqual(['day -89', 'day -1', 'day 26000', 'day 0']);
    });

    it('forgets nothing by two entries of a clock that was wrong', async () => {
      write(-1, 26_000, 26_001);
      await send(0);
      expect(keys()).toEqual(['day -1', 'day 26000', 'day 26001', 'day 0']);
    });

    it('drops a line that was cut short, which costs no other', async () => {
      write(-100, -1);
      appendFileSync(file(), '{"time": "2026-1');
      expect(JSON.parse((await here('history --json', at(0))).stdout)).toHaveLength(1);
      await send(0);
      expect(keys()).toEqual(['day -1', 'day 0']);
      expect((statSync(file()).mode & 0o777).toString(8)).toBe('600');
    });

    it('keeps what another process writes while it prunes', async () => {
      write(-100, -1);
      // A process that waited for the lock in vain.
      const lock = `${file()}.lock`;
      writeFileSync(lock, '');
      await here("sms send 99112244 hi --idempotency-key 'day 0'", {
        clock: { now: () => start, sleep: async () => writeFileSync(lock, `${Math.random()}`) },
      });
      expect(keys()).toEqual(['day -100', 'day -1', 'day 0']);
    });
  });

  it('is deleted with --clear, which asks', async () => {
    await here('sms send 99112244 hi');
    expect(await here('history --clear')).toMatchObject({ code: 2 });
    const declined = await here('history --clear', { terminal: 80, questions: answers(false) });
    expect(declined).toMatchObject({ code: 2 });
    expect(await history()).toHaveLength(1);
    expect(await here('history --clear --yes')).toMatchObject({ code: 0, stderr: 'Deleted the history.\n' });
    expect(await history()).toEqual([]);
  });

  it('never changes how a send ends where it cannot be written', async () => {
    mkdirSync(file());
    expect(await here('sms send 99112244 hi')).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('history'),
    });
    expect((await here('sms send 99112244 hi -v')).stderr).toMatch(/^cannot write the history: EISDIR/m);
    expect(await here('history')).toMatchObject({ code: 13, stderr: expect.stringContaining('--clear') });
    chmodSync(file(), 0o700);
  });
});
