import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bounceAddress } from '../../src/service/carriers/smtp/bounce-address.js';
import { deriveKey } from '../../src/service/encryption.js';
import { bounceOf } from '../support/bounces.js';
import { emptyFolder } from '../support/folders.js';
import { run, type Setting } from '../support/run.js';
import { saying } from '../support/saying.js';

const home = emptyFolder();

const here = (line: string, setting: Setting = {}) =>
  run(line, { home, cwd: home, env: { URTUU_SANDBOX: '1' }, ...setting });
const json = async (line: string) => JSON.parse((await here(`${line} --json`)).stdout);
const reply = (id: string) =>
  `From: bold@example.com\nTo: no-reply@shop.mn\nMessage-ID: <${id}>\nSubject: Re: ${id}\n\nHi`;
const take = (stdin: string | Uint8Array, words = '', setting: Setting = {}) =>
  here(`service incoming ${words}`, { stdin, ...setting });

describe('urtuu service incoming', () => {
  it('makes a message bounced and its recipient suppressed, until that is removed', async () => {
    await here('service settings set suppressions true');
    const send = () => json('email send bold@example.com --subject Hi --text t --wait');
    const { id } = await send();
    const secret = readFileSync(join(home, '.local/state/urtuu/sandbox/secret'));
    const sender = bounceAddress(id, deriveKey(secret, 'bounce addresses'), 'b.example.mn');
    expect(await take(bounceOf(sender))).toEqual({ code: 0, stdout: '', stderr: '', slept: 0 });
    const [suppressed] = await json('service suppressions list');
    expect(suppressed).toMatchObject({ to: 'bold@example.com', reason: 'unknown_recipient' });
    const line = 'email send bold@example.com --subject Hi --text t --wait';
    expect(await here(line)).toMatchObject(
      saying(8, 'bold@example.com is on the do-not-send list: unknown_recipient'),
    );
    const { stderr } = await here(`${line} --json`);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'recipient_suppressed',
      reason: 'unknown_recipient',
    });
    expect(await here('service suppressions remove bold@example.com')).toMatchObject({
      code: 0,
      stderr: 'Removed bold@example.com.\n',
    });
    expect(await send()).toMatchObject({ status: 'sent' });
  });

  it.each<[string, string | Uint8Array, string, Setting, number]>([
    ['no mail', '', '', {}, 65],
    ['a mail over 36 MB', new Uint8Array(36_000_001), '', {}, 65],
    ['a mail for nobody', reply('1'), '', {}, 67],
    ['a mail for no address', reply('1'), '--to nobody', {}, 67],
    ['no data', reply('1'), '--data nowhere', {}, 75],
    [
      'a database that is away',
      reply('1'),
      '--database postgres://nobody@127.0.0.1:1/x',
      { env: { URTUU_SECRET_FILE: 'secret' } },
      75,
    ],
    ['an unknown option', reply('1'), '--nothing', {}, 75],
  ])(
    '%s: a line or two for the log, and an exit that a mail server knows',
    async (_, stdin, words, setting, code) => {
      const result = await take(stdin, words, setting);
      expect(result).toMatchObject({ code, stdout: '' });
      expect(result.stderr).toMatch(/^urtuu: .+\n(?: {2}.+\n)?$/);
    },
  );

  it('never writes a stack', async () => {
    await here('service settings set own_domain shop.mn');
    const fault = {
      time: '2026-11-22T01:00:00.000Z',
      level: 'error' as const,
      request_id: null,
      code: 'ENOSPC',
      stack: 'Error: the disk is full\n    at write (store.js:1234:5)',
    };
    const data = join(home, '.local/state/urtuu/sandbox');
    const { code, stderr } = await take(reply('1'), `--data ${data}`, {
      env: {},
      openAdministration: async ({ report }) => {
        report?.(fault);
        throw new TypeError('x is undefined');
      },
    });
    expect([code, stderr]).toEqual([75, expect.stringContaining('Error: the disk is full')]);
    expect(stderr).not.toContain(' at ');
  });
});

describe('urtuu service inbox', () => {
  it('lists what came, the newest first', async () => {
    await here('service settings set own_domain shop.mn');
    for (const id of ['1', '2', '2', '3']) expect((await take(reply(id))).code).toBe(0);
    const subjects = async (line: string) =>
      (await json(line)).map(({ subject }: { subject: string }) => subject);
    expect(await subjects('service inbox')).toEqual(['Re: 3', 'Re: 2', 'Re: 1']);
    expect(await subjects('service inbox --limit 1')).toEqual(['Re: 3']);
    expect((await here('service inbox --project Default -o csv --columns from,text')).stdout).toBe(
      'from,text\r\nbold@example.com,Hi\r\nbold@example.com,Hi\r\nbold@example.com,Hi\r\n',
    );
  });

  it('follows, the oldest first', async () => {
    await here('service settings set own_domain shop.mn');
    for (const id of ['1', '2']) await take(reply(id));
    const coming = ['3', '4'];
    let signal: (name: 'SIGINT') => void = () => {};
    const { code, stdout } = await here('service inbox --follow --limit 1 -o ndjson --columns subject', {
      clock: {
        async sleep() {
          const id = coming.shift();
          if (id !== undefined) await take(reply(id));
          else {
            signal('SIGINT');
            await new Promise(() => {});
          }
        },
      },
      onSignal: (listener) => {
        signal = listener as typeof signal;
        return () => {};
      },
    });
    expect(code).toBe('SIGINT');
    const subjects = stdout.split('\n').filter(Boolean);
    expect(subjects.map((row) => JSON.parse(row).subject)).toEqual(['Re: 2', 'Re: 3', 'Re: 4']);
    expect(await here('service inbox --follow --json')).toMatchObject({ code: 2 });
  });

  it('follows an SMS in parts once: when it is whole, or when no part can come any more', async () => {
    await here('service settings set own_domain shop.mn');
    const message = (text: string, minute: number, waits = false) => ({
      ...{ id: text, channel: 'sms', from: '99112233', to: '139911', subject: null, text },
      received_at: new Date(Date.UTC(2026, 10, 22, 8, minute)).toISOString(),
      waits_for_parts: waits,
    });
    const lost = message('a[…]', -500, true);
    const first = message('b[…]', -400, true);
    const inbox = [message('c', 2), first, lost];
    const changes = [
      () => inbox.unshift(message('d', 50)),
      () => Object.assign(first, { text: 'b!', waits_for_parts: false }),
      () => inbox.unshift(message('e', 51)),
      () => Object.assign(lost, { waits_for_parts: false }),
      () => {},
    ];
    const pageOf = async ({ after }: { after?: string }) => {
      const at = inbox.findIndex(({ id }) => id === after) + 1;
      return { data: inbox.slice(at, at + 1), next: inbox.length > at + 1 ? (inbox[at]?.id ?? null) : null };
    };
    let signal: (name: 'SIGINT') => void = () => {};
    const { stdout } = await here(
      'service inbox --follow --limit 1 -o ndjson --columns text --data .local/state/urtuu/sandbox',
      {
        env: {},
        openAdministration: async () =>
          ({
            administration: { inbox: pageOf },
            close: async () => {},
          }) as never,
        clock: {
          async sleep() {
            const change = changes.shift();
            if (change !== undefined) change();
            else {
              signal('SIGINT');
              await new Promise(() => {});
            }
          },
        },
        onSignal: (listener) => {
          signal = listener as typeof signal;
          return () => {};
        },
      },
    );
    const texts = stdout.split('\n').filter(Boolean);
    expect(texts.map((row) => JSON.parse(row).text)).toEqual(['c', 'd', 'b!', 'e', 'a[…]']);
  });
});
