import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OpenedAdministration, ServiceOptions } from '../../src/service/index.js';
import { emptyFolder } from '../support/folders.js';
import { answers, run, type Setting } from '../support/run.js';
import { saying } from '../support/saying.js';

const home = emptyFolder();

/** A command against the embedded service of this test, without a key. */
const here = (line: string, env = {}) => run(line, { home, env });
const json = async (line: string) => JSON.parse((await here(`${line} --json`)).stdout);

describe('the sandbox', () => {
  it('takes a message from one command and shows it to the next', async () => {
    expect(await here("sms send 99112233 'Сайн уу' --sandbox")).toMatchObject({ code: 0 });
    expect(
      await here('email send bat@example.mn --subject Hi --text t', { URTUU_SANDBOX: '1' }),
    ).toMatchObject({
      code: 0,
    });
    expect(await json('sandbox outbox')).toMatchObject([
      { channel: 'sms', to: '99112233', text: 'Сайн уу' },
      { channel: 'email', to: 'bat@example.mn', subject: 'Hi', text: 't' },
    ]);
    expect(await json('sandbox outbox --to 99112233 --limit 1')).toHaveLength(1);
    expect(await json('sandbox outbox --limit 1')).toMatchObject([{ to: 'bat@example.mn' }]);
    expect(await json('sandbox outbox --limit 0')).toEqual([]);
    const [{ message_id: id }] = await json('sandbox outbox');
    expect(await json(`messages get ${id} --sandbox`)).toMatchObject({ id, status: 'sent' });
  });

  it('keeps the troubles of its operator out of the output of a command', async () => {
    const sent = await here('sms send 99000027 Hi --sandbox --quiet -o ndjson');
    expect({ code: sent.code, stderr: sent.stderr }).toEqual({ code: 0, stderr: '' });
  });

  it.each([
    ['sms send 99000021 Hi', 'delivered'],
    ['sms send 99000022 Hi', 'undelivered'],
    ['email send fault-bounced@example.mn --subject Hi --text t --wait', 'bounced'],
  ])('shows the receipt of %s, which comes after the command, to the next one', async (line, delivery) => {
    const { id } = await json(`${line} --sandbox`);
    expect(await json(`messages get ${id} --sandbox`)).toMatchObject({ status: 'sent', delivery });
  });

  it('leaves no rate limit of its own behind: its key is another in every process', async () => {
    expect(await here('balance --sandbox')).toMatchObject({ code: 0 });
    expect(readdirSync(join(home, '.local/state/urtuu'))).toEqual(['sandbox']);
  });

  it('writes an unexpected error of the service as one line of JSON', async () => {
    const fault = {
      time: '2026-03-02T01:00:00.000Z',
      level: 'error' as const,
      request_id: 'r1',
      code: 'ENOSPC',
      stack: 'Error: the disk is full\n    at write (store.js:1234:5)',
    };
    const openService = async (options: ServiceOptions) => {
      options.report?.(fault);
      throw new Error('closed');
    };
    const { stderr } = await run('balance --sandbox', { home, env: {}, openService });
    expect(JSON.parse(stderr.split('\n')[0] ?? '')).toEqual(fault);
  });

  it('says how to go on with a job of its own', async () => {
    writeFileSync(join(home, 'list.csv'), 'phone\n99000013\n');
    const line = 'sms bulk list.csv --text hi --job july --yes --max-wait 0s --max-retries 0 --sandbox';
    const goOn = 'urtuu jobs resume july --sandbox';
    const sent = await run(line, { home, env: {}, cwd: home });
    const withItsLimits = 'urtuu jobs resume july --max-wait 0s --sandbox';
    expect(sent).toMatchObject({ code: 6, stderr: expect.stringContaining(withItsLimits) });
    expect((await here('jobs remove july')).stderr).toContain(goOn);
    expect(await here(goOn.slice('urtuu '.length))).toMatchObject({ code: 0 });
  });

  it('has credits to give, to set and to run out of', async () => {
    const { balance } = await json('balance --sandbox');
    expect(await json('sandbox credit 500')).toEqual({ balance: balance + 500 });
    expect(await json('sandbox credit --set 3')).toEqual({ balance: 3 });
    expect(await here('sms send 99112233 hi --sandbox')).toMatchObject(
      saying(7, 'it needs 10 credits, and 3 are left'),
    );
    expect(await here('sandbox credit')).toMatchObject({ code: 2 });
    expect(await here('sandbox credit 1 --set 2')).toMatchObject({ code: 2 });
  });

  it('can be looked at by its folder', async () => {
    await here('sms send 99112233 hi --sandbox');
    const folder = join(home, '.local', 'state', 'urtuu', 'sandbox');
    expect(await json(`sandbox outbox --data ${folder}`)).toMatchObject([{ to: '99112233' }]);
  });

  it('excludes --base-url, and needs no key', async () => {
    expect(await here('balance --sandbox --base-url http://127.0.0.1:1/v1')).toMatchObject({ code: 2 });
    expect(await here('doctor --sandbox')).toMatchObject({ code: 0 });
  });

  it('checks verification codes: 10 with the tries left, 0 when right, 10 when closed', async () => {
    const { id } = await json('verify create 99112233 --sandbox');
    const [{ text }] = await json('sandbox outbox');
    const code = /\d{6}/.exec(text)?.[0] ?? '';
    const wrong = await here(`verify check ${id} ${code === '000000' ? '000001' : '000000'} --sandbox`);
    expect(wrong).toMatchObject(saying(10, 'Attempts remaining: 4.'));
    expect(await json(`verify check ${id} ${code} --sandbox`)).toMatchObject({ id, status: 'verified' });
    expect(await here(`verify check ${id} ${code} --sandbox`)).toMatchObject({ code: 10 });
    expect(await json(`verify get ${id} --sandbox`)).toMatchObject({ status: 'verified' });
    expect(await here('verify get nothing --sandbox')).toMatchObject({ code: 12 });
  });
});

describe('keys', () => {
  it('are made once, listed without their secret, and revoked', async () => {
    const { id, secret } = await json('keys create');
    expect(secret).toMatch(/^urtuu_[0-9A-Za-z]{40}$/);
    const list = await here('keys list --json');
    const prefix = secret.slice(0, 12);
    expect(JSON.parse(list.stdout)).toMatchObject([{ id, prefix, label: null, revoked_at: null }]);
    expect(list.stdout).not.toContain(secret.slice(0, 13));
    expect(await here(`keys revoke ${id}`)).toMatchObject({ code: 2 });
    expect(await here(`keys revoke ${id} --yes`)).toMatchObject({ code: 0 });
    expect((await json('keys list'))[0].revoked_at).not.toBeNull();
    expect(await here('keys revoke nothing --yes')).toMatchObject({ code: 12 });
  });

  it('are told apart by their first characters and a label', async () => {
    const { secret, label } = await json('keys create --label deploy');
    await here('keys create');
    expect(label).toBe('deploy');
    const { stdout } = await here('keys list');
    expect(stdout).toMatch(new RegExp(`^PREFIX +LABEL .*\n${secret.slice(0, 12)} +deploy `));
  });

  it('have the scopes that were named, in any order; inbox for those alone', async () => {
    for (const [given, scope] of [
      ['', ['send', 'read']],
      ['--scope inbox', ['inbox']],
      ['--scope inbox,send', ['send', 'inbox']],
      ['--scope inbox,read,send', ['send', 'read', 'inbox']],
    ] as const)
      expect(await json(`keys create ${given}`)).toMatchObject({ scope });
    const { stdout } = await here('keys list');
    for (const shown of ['SCOPE', ' inbox ', ' send,inbox ']) expect(stdout).toContain(shown);
  });

  it('are revoked by characters that only one of them begins with', async () => {
    const { id, secret } = await json('keys create --label cron');
    await here('keys create');
    expect(await here('keys revoke urtuu_ --yes')).toMatchObject({ code: 12 });
    const whole = await here(`keys revoke ${secret} --yes`);
    expect(whole).toMatchObject({ code: 12, stderr: expect.stringContaining(`${secret.slice(0, 12)}...\n`) });
    expect(whole.stderr).not.toContain(secret.slice(0, 13));
    expect(await here(`keys revoke ${secret.slice(0, 12)} --yes`)).toMatchObject({
      code: 0,
      stderr: `Revoked key ${secret.slice(0, 12)} (cron).\n`,
    });
    const revoked = (await json('keys list')).filter(
      (key: { revoked_at: string }) => key.revoked_at !== null,
    );
    expect(revoked).toMatchObject([{ id }]);
  });

  it('are not revoked by a beginning that two of them share', async () => {
    const keys = ['urtuu_abc123', 'urtuu_abd456'].map((prefix) => ({ id: prefix, prefix, revoked_at: null }));
    const revoked: string[] = [];
    const administration = {
      listKeys: async () => keys,
      revokeKey: async (id: string) => revoked.push(id) > 0,
    };
    const openAdministration = async () =>
      ({ administration, close: async () => {} }) as unknown as OpenedAdministration;
    await here('keys create');
    const revoke = (given: string) =>
      run(`keys revoke ${given} --yes`, { home, env: {}, openAdministration });
    expect(await revoke('urtuu_ab')).toMatchObject(saying(2, '2 keys begin with urtuu_ab'));
    expect(revoked).toEqual([]);
    await revoke('urtuu_abd');
    expect(revoked).toEqual(['urtuu_abd456']);
  });

  it('are revoked by a label that one active key has', async () => {
    for (const label of ['web', 'two', 'two', 'old']) await here(`keys create --label ${label}`);
    expect(await here('keys revoke web --yes')).toMatchObject(
      saying(0, /^Revoked key urtuu_\w+ \(web\)\.$/m),
    );
    expect(await here('keys revoke web --yes')).toMatchObject({ code: 12 });
    expect(await here('keys revoke two --yes')).toMatchObject(saying(2, '2 keys have the label two'));
    // One that was revoked has left its label to the next.
    await here('keys revoke old --yes');
    await here('keys create --label old');
    expect(await here('keys revoke old --yes')).toMatchObject({ code: 0 });
  });

  it.each(['', 'two\nlines', 'x'.repeat(101)])('refuses the label %j', async (label) => {
    expect(await run('', { home, env: {}, argv: ['keys', 'create', '--label', label] })).toMatchObject(
      saying(8, 'label: must'),
    );
  });

  it('are at most ten', async () => {
    for (let made = 0; made < 10; made += 1) expect(await here('keys create')).toMatchObject({ code: 0 });
    const { code, stderr } = await here('keys create');
    expect(code).toBe(8);
    expect(stderr).toContain('10 active keys');
    expect(stderr).toContain('See: urtuu keys list');
  });

  it('shows an email by its subject and the text of its HTML', async () => {
    await here("email send bat@example.mn --subject Report --html '<p>3 &lt; 4</p>' --sandbox");
    expect((await here('sandbox outbox -o csv --columns subject,text')).stdout).toBe(
      'subject,text\r\nReport,3 < 4\r\n',
    );
    const { stdout } = await run('sandbox outbox --no-color', { home, env: {}, terminal: 80 });
    expect(stdout).toMatch(/bat@example\.mn +Report +3 < 4/);
    expect(await json('sandbox outbox')).toMatchObject([{ text: null, html: '<p>3 &lt; 4</p>' }]);
  });

  it.each([80, 60])('shows messages as a table on a terminal of %i columns', async (terminal) => {
    const text = 'Таны захиалга ирлээ. Та маргааш 18 цагаас өмнө авна уу.';
    await here(`sms send 99112233 '${text}' --sandbox`);
    const { stdout } = await run('sandbox outbox --no-color', { home, env: {}, terminal });
    expect(stdout).toMatch(/^DELIVERED AT +CHANNEL +TO +TEXT$/m);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(terminal);
    expect(stdout.replace(/\s+/g, ' ')).toContain('99112233 Таны захиалга');
  });

  it('names its data to a person, and that of urtuu serve where it has none itself', async () => {
    const state = join(home, '.local/state/urtuu');
    const empty = await run('sandbox outbox', { home, env: {}, terminal: 200 });
    expect(empty.stderr).toBe(`No messages in ${join(state, 'sandbox')}.\n`);
    await here('keys create');
    const beside = await run('sandbox outbox', { home, env: {}, terminal: 200 });
    expect(beside.stderr.replace(/\s+/g, ' ')).toContain(
      ` Messages of urtuu serve: urtuu sandbox outbox --data ${join(state, 'service')} `,
    );
    const keys = await run('keys list', { home, env: {}, terminal: 200 });
    expect(keys.stderr).toBe(`Data: ${join(state, 'service')}\n`);
    expect((await here('keys list')).stderr).toBe('');
    const reset = await run('sandbox reset', { home, env: {}, terminal: 80, questions: answers(false) });
    expect(reset.code).toBe(2);
  });

  describe('outbox --follow', () => {
    /** Sends `texts` one by one whenever the follower waits, then stops it. */
    const follow = async (options: string, texts: string[], setting: Setting = {}) => {
      let signal: (name: 'SIGINT') => void = () => {};
      const sleep = async () => {
        const text = texts.shift();
        if (text === undefined) {
          signal('SIGINT');
          await new Promise(() => {});
        } else if (text === 'reset') await here('sandbox reset --yes');
        else await here(`sms send 99112233 ${text} --sandbox --wait`);
      };
      return run(`sandbox outbox --follow ${options}`, {
        home,
        env: {},
        clock: { sleep },
        onSignal: (listener) => {
          signal = listener as typeof signal;
          return () => {};
        },
        ...setting,
      });
    };

    it('shows messages as they come, until Ctrl-C', async () => {
      await here('sms send 99112233 earlier --sandbox');
      const { code, stdout } = await follow('-o ndjson --columns text', ['one', 'two', 'three']);
      expect(code).toBe('SIGINT');
      const texts = stdout.split('\n').filter(Boolean);
      expect(texts.map((line) => JSON.parse(line).text)).toEqual(['earlier', 'one', 'two', 'three']);
    });

    it('begins with the newest, goes on after a reset, and has one header', async () => {
      await here('sms send 99112233 earlier --sandbox');
      const { stdout } = await follow('--limit 0 --columns text', ['one', 'reset', 'two']);
      expect(stdout).toBe('TEXT\none\ntwo\n');
    });

    it('refuses an array that never ends', async () => {
      expect(await here('sandbox outbox --follow --json')).toMatchObject(saying(2, '--output ndjson'));
    });
  });
});
