import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openCore } from '../../../src/service/core.js';
import { createService } from '../../../src/service/index.js';
import { Cores, caller } from '../../support/cores.js';
import { fileFolder } from '../../support/folders.js';
import { newDatabase } from '../../support/postgres.js';
import { answers, Captured, run } from '../../support/run.js';

const secret = new Uint8Array(32).fill(7);
const home = fileFolder();
const secretFile = join(home, 'urtuu.secret');
writeFileSync(secretFile, secret);
const cores = new Cores();
afterEach(() => cores.closeAll());

describe.each(['a folder', 'a database'])('a held service in %s', (place) => {
  let flags: string;
  let where: object;
  let emailId: string;
  const here = (line: string, given = {}) =>
    run(`${line} ${flags}`, { home, cwd: home, env: { URTUU_SECRET_FILE: secretFile }, ...given });

  /** One email waits. */
  beforeEach(async () => {
    if (place === 'a folder') {
      const directory = join(mkdtempSync(join(home, 'data-')), 'service');
      where = { directory };
      flags = `--data ${directory}`;
    } else {
      const database = await newDatabase();
      where = { database, secret };
      flags = `--database ${database}`;
    }
    const core = await openCore(where, { carriers: () => [] });
    const params = { to: 'bat@example.mn', subject: 's', text: 't' };
    const { body } = await core.operations.sendEmail({ caller, params, idempotencyKey: null });
    emailId = (body as { id: string }).id;
    await core.store.hold('restored');
    await core.close();
  });

  const email = async () => {
    const core = await cores.open(where, { carriers: () => [] });
    return core.operations.getMessage(caller, emailId);
  };

  it('says in its status that nothing is sent', async () => {
    const { code, stdout, stderr } = await here('service status --json');
    expect({ code, rows: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      rows: [
        { lane: 'email', waiting: 1, in_doubt: 0, sent: 0, failures: {}, instances: [], held: 'restored' },
        { lane: 'sms', waiting: 0, held: 'restored' },
      ],
    });
    expect(stderr).toContain('urtuu service release');
  });

  it('fails its check until it is released', async () => {
    const config = join(home, 'service.json');
    writeFileSync(config, JSON.stringify({ sms: 'simulated', email: 'simulated' }));
    const check = async () => {
      const { code, stdout } = await here(`service check --config ${config} --json`);
      return [code, JSON.parse(stdout)];
    };
    const found = { check: 'store', address: flags.split(' ')[1] };
    const held = expect.stringMatching(/^The service is held, since its data was restored/);
    expect(await check()).toEqual([5, [{ ...found, status: 'failed', problem: held }]]);
    expect((await here('service release --finish-as failed --yes')).code).toBe(0);
    expect(await check()).toEqual([0, [{ ...found, status: 'ok', problem: null }]]);
  });

  it('is served with a warning', async () => {
    let stop: (signal: 'SIGTERM') => void = () => {};
    class Stopping extends Captured {
      override write(text: string, done?: (error?: Error | null) => void): boolean {
        setImmediate(() => stop('SIGTERM'));
        return super.write(text, done);
      }
    }
    const served = await here('serve --port 0', {
      stdout: new Stopping(undefined),
      onSignal(listener: typeof stop) {
        stop = listener;
        return () => {};
      },
    });
    expect(served.stderr).toMatch(/The service is held, since its data was restored: nothing is sent\./);
  });

  it('is released after a prompt that says what it means', async () => {
    const questions = answers('failed', true);
    const { code, stdout, stderr } = await here('service release', { questions, terminal: 80 });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/finish as.* failed$/m) });
    expect(stderr).toMatch(/1 message without an outcome\./);
    expect(stderr).toMatch(/do not\s+resume jobs/);
    expect(questions.asked.at(-1)).toContain('refund');
    expect(await email()).toMatchObject({ status: 'failed', credits: 0 });
  });

  it('stays held when that is declined, or nobody can be asked', async () => {
    const declined = await here('service release --finish-as sent', {
      questions: answers(false),
      terminal: 80,
    });
    expect(declined.code).toBe(2);
    expect((await here('service release --finish-as sent')).code).toBe(2);
    expect((await here('service release --yes')).stderr).toContain('--finish-as');
    expect(await email()).toMatchObject({ status: 'queued' });
    expect((await here('service status --json')).stdout).toContain('"held": "restored"');
  });

  describe('where every message has an outcome', () => {
    beforeEach(async () => {
      await here('service release --finish-as failed --yes');
      const core = await openCore(where, { carriers: () => [] });
      await core.store.hold('restored');
      await core.close();
    });
    const row = { reason: 'restored', finish_as: null, messages: 0, submitting: 0 };

    it('asks too, because it does not know the keys used since', async () => {
      const questions = answers(true);
      const { code, stdout, stderr } = await here('service release --json', { questions, terminal: 80 });
      expect({ code, row: JSON.parse(stdout), asked: questions.asked }).toEqual({
        code: 0,
        row,
        asked: [expect.stringMatching(/^Release the service\? .*idempotency keys that it does not know/)],
      });
      expect(stderr).toMatch(/Every message has an outcome\.[\s\S]*do not\s+resume jobs/);
      expect((await here('service status --json')).stdout).not.toContain('restored');
    });

    it('stays held when that is declined, or nobody can be asked', async () => {
      const declined = { questions: answers(false), terminal: 80 };
      expect((await here('service release', declined)).code).toBe(2);
      for (const line of ['service release', 'service release --finish-as sent']) {
        const { code, stderr } = await here(line);
        expect([code, stderr]).toEqual([2, expect.stringContaining('--yes')]);
      }
      expect((await here('service status --json')).stdout).toContain('"held": "restored"');
    });

    it('is released with --yes', async () => {
      const { code, stdout } = await here('service release --yes --json');
      expect({ code, row: JSON.parse(stdout) }).toEqual({ code: 0, row });
    });
  });

  it.each([
    ['sent', { status: 'sent', delivery: 'unknown' }],
    ['queue', { status: 'queued' }],
  ])('is released with %s, and once', async (finishAs, end) => {
    const { code, stdout } = await here(`service release --finish-as ${finishAs} --yes --json`);
    expect({ code, row: JSON.parse(stdout) }).toEqual({
      code: 0,
      row: { reason: 'restored', finish_as: finishAs, messages: 1, submitting: 0 },
    });
    expect(await email()).toMatchObject(end);
    const again = await here(`service release --finish-as ${finishAs} --yes`);
    expect(again).toMatchObject({ code: 11, stderr: expect.stringContaining('is not held') });
  });
});

it('a restore over data that a process has open is refused before it asks', async () => {
  const directory = join(home, 'open');
  const core = await cores.open({ directory });
  await run(`service backup copy --data ${directory}`, { home, cwd: home });
  const questions = answers();
  const restore = () =>
    run(`service restore copy --data ${directory}`, { home, cwd: home, questions, terminal: 80 });
  expect(await restore()).toMatchObject({ code: 11, stderr: expect.stringContaining('another process has') });
  expect(questions.asked).toEqual([]);
  expect(await core.administration.held()).toBeNull();
});

it('the status of a service that runs names its instance, and watches it', async () => {
  const directory = join(home, 'running');
  const service = await createService({ directory });
  const listening = await service.listen({ port: 0 });
  await service.administration.createFirstKey();
  const flags = `--data ${directory}`;
  const { stdout } = await run(`service status ${flags}`, { home });
  expect(stdout).toMatch(
    /^LANE +WAITING +OLDEST +SUBMITTING +IN DOUBT +SENT\/MIN +UNKNOWN\/MIN +FAILED\/MIN +CONNECTED$/m,
  );
  expect(stdout).toMatch(/^email +.*simulated/m);
  expect(await run(`service status --watch --json ${flags}`, { home })).toMatchObject({ code: 2 });
  let looks = 0;
  const sleep = vi.fn(async () => {
    looks += 1;
    if (looks === 3) throw new Error('enough');
  });
  const watched = await run(`service status --watch -o ndjson ${flags}`, { home, clock: { sleep } });
  const rows = watched.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows).toHaveLength(6);
  const address = listening.url.replace(/\/v1$/, '');
  expect(rows[0]).toMatchObject({ held: null, lane: 'email', instances: [{ address, state: 'simulated' }] });
  await service.close();
});
