import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { testKey } from '../support/run.js';
import { pty, shipped, Terminal } from './pseudoterminal.js';

let machine: Machine;
const open: Terminal[] = [];
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
  machine.remove();
});

function urtuu(
  args: string[],
  options: { columns?: number; env?: NodeJS.ProcessEnv; program?: readonly string[] } = {},
): Terminal {
  const terminal = new Terminal(machine, args, options);
  open.push(terminal);
  return terminal;
}
const sandbox = { env: { URTUU_SANDBOX: '1' } };
const outbox = async () =>
  JSON.parse((await machine.run(['sandbox', 'outbox', '--json'], sandbox)).stdout) as { text: string }[];

describe.skipIf(pty === null)('at a terminal', () => {
  it('`sms send` alone walks one through it', async () => {
    const terminal = urtuu(['sms', 'send'], sandbox);
    await terminal.shows(/Recipient number:/);
    terminal.type('9911 2233\r');
    await terminal.shows(/Text:/);
    terminal.type('Сайн уу\r');
    const { code, signal, screen } = await terminal.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(screen).toMatch(/status +sent/);
    expect(await outbox()).toMatchObject([{ to: '99112233', text: 'Сайн уу' }]);
  });

  it('breaks a question between words', async () => {
    writeFileSync(join(machine.home, 'list.csv'), 'phone\n99112233\n');
    const terminal = urtuu(['sms', 'bulk', 'list.csv', '--text', 'Hi'], { ...sandbox, columns: 40 });
    await terminal.shows(/\(y\/N\)/);
    terminal.type('\u0003');
    const { screen } = await terminal.ended;
    expect(screen).toMatch(
      /1 recipient for[\r\n]+ {2}10 credits\? Nobody receives[\r\n]+ {2}anything: this is/,
    );
  });

  it('does not take an empty answer', async () => {
    const terminal = urtuu(['sms', 'send'], sandbox);
    await terminal.shows(/Recipient number:/);
    terminal.type('\r');
    await terminal.shows(/It cannot be empty/);
    terminal.type('99112233\r');
    await terminal.shows(/Text:/);
    terminal.type('\u0003');
    expect(await terminal.ended).toMatchObject({ signal: 'SIGINT' });
    expect(await outbox()).toEqual([]);
  });

  it.each([
    ['sms send', ['sms', 'send']],
    ['email send', ['email', 'send']],
    ['verify create', ['verify', 'create']],
  ])('Ctrl-C in a question dies by the signal, and nothing is sent: %s', async (_, args) => {
    const terminal = urtuu(args, sandbox);
    await terminal.shows(/Recipient/);
    terminal.type('\u0003');
    const { signal, screen } = await terminal.ended;
    expect(signal).toBe('SIGINT');
    expect(screen).not.toMatch(/urtuu:|Error/);
    expect(await outbox()).toEqual([]);
  });

  it('goes on with its question after Ctrl-Z and fg', async () => {
    // A shell with job control: without one nothing can be stopped.
    const program = ['bash', '-c', 'set -m; "$@"; echo stopped; fg', 'bash', ...shipped];
    const terminal = urtuu(['sms', 'send'], { ...sandbox, program });
    await terminal.shows(/Recipient number:/);
    terminal.type('99\u001a');
    await terminal.shows(/stopped\n"\$@"/);
    terminal.type('112233\r');
    await terminal.shows(/Text:/);
    terminal.type('hi\r');
    expect(await terminal.ended).toMatchObject({ code: 0, signal: null });
    expect(await outbox()).toMatchObject([{ to: '99112233', text: 'hi' }]);
  });

  it('refuses a number that is none at once, and asks for it again', async () => {
    const terminal = urtuu(['sms', 'send'], sandbox);
    await terminal.shows(/Recipient number:/);
    terminal.type('9911\r');
    await terminal.shows(/"9911" is not a phone number/);
    terminal.type('2233\r');
    await terminal.shows(/Text:/);
    terminal.type('hi\r');
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(await outbox()).toMatchObject([{ to: '99112233', text: 'hi' }]);
  });

  it('asks for a code until it is right', async () => {
    const created = await machine.run(['verify', 'create', '99112233', '--json'], sandbox);
    const { id } = JSON.parse(created.stdout);
    const [{ text = '' } = {}] = await outbox();
    const terminal = urtuu(['verify', 'check', id], sandbox);
    await terminal.shows(/Code:/);
    terminal.type('code\r');
    await terminal.shows(/a code has 4 to 8 digits/);
    terminal.type('\u00150000\r');
    await terminal.shows(/Attempts remaining: 4/);
    terminal.type(`${/\d{6}/.exec(text)?.[0]}\r`);
    const { code, screen } = await terminal.ended;
    expect({ code, screen }).toEqual({ code: 0, screen: expect.stringMatching(/status +verified/) });
  });

  it('asks for the key unseen, and keeps it', async () => {
    await using server = await Loopback.listen((_, response) => json(response, 200, { balance: 5 }));
    const terminal = urtuu(['login', '--base-url', `${server.origin}/v1`]);
    await terminal.shows(/API key for \S+:/);
    terminal.type(testKey);
    await terminal.shows(/\*{20}/);
    terminal.type('\r');
    const { code } = await terminal.ended;
    expect(code).toBe(0);
    expect(terminal.raw).not.toContain(testKey);
    expect(terminal.raw).not.toContain(testKey.slice(0, 12));
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${testKey}`);
    expect(readFileSync(join(machine.home, 'config/urtuu/config.json'), 'utf8')).toContain(testKey);
  });

  it('Enter alone spends nothing and removes nothing', async () => {
    writeFileSync(join(machine.home, 'list.csv'), 'phone\n99112233\n88001122\n');
    const bulk = urtuu(['sms', 'bulk', 'list.csv', '--text', 'hi', '--job', 'j'], sandbox);
    await bulk.shows(/Send to 2 recipients.*\?/);
    bulk.type('\r');
    expect(await bulk.ended).toMatchObject({ code: 2 });
    expect(await outbox()).toEqual([]);

    await machine.run(['sms', 'send', '99112233', 'hi'], sandbox);
    const reset = urtuu(['sandbox', 'reset']);
    await reset.shows(/Delete all messages.*\?/);
    reset.type('\r');
    expect(await reset.ended).toMatchObject({ code: 2 });
    expect(await outbox()).toHaveLength(1);
  });

  it.each([
    ['an empty answer', ['sms', 'send'], /number:/, '\r', /cannot be empty/],
    ['a key', ['login'], /API key for \S+:/, 'x', /\*/],
    ['yes or no', ['sandbox', 'reset'], /\(y\/N\)/, 'x\r', /must answer/],
    ['a choice', ['sms', 'bulk', 'old.csv', '--text', 'hi'], /Which encoding/, '\u001b[B', /❯ windows-1252/],
  ])('asks without colours with --no-color: %s', async (_, args, question, keys, answer) => {
    writeFileSync(
      join(machine.home, 'old.csv'),
      Buffer.from('phone,name\n99112233,\xc1\xe0\xf2\n', 'latin1'),
    );
    const terminal = urtuu([...args, '--no-color'], sandbox);
    await terminal.shows(question);
    terminal.type(keys);
    await terminal.shows(answer);
    expect(terminal.raw).not.toMatch(/\u001b\[[\d;]*m/);
  });

  it('asks before a bulk send, and sends when told so', async () => {
    writeFileSync(join(machine.home, 'list.csv'), 'phone\n99112233\n88001122\n');
    const terminal = urtuu(['sms', 'bulk', 'list.csv', '--text', 'hi', '--job', 'j'], sandbox);
    await terminal.shows(/Send to 2 recipients for 20 credits/);
    terminal.type('y\r');
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(await outbox()).toHaveLength(2);
  });

  it('asks for the text of a bulk send that has none', async () => {
    writeFileSync(join(machine.home, 'list.csv'), 'phone,name\n99112233,Bat\n88001122,Dorj\n');
    const terminal = urtuu(['sms', 'bulk', 'list.csv'], sandbox);
    await terminal.shows(/Text \(\{phone\} \{name\}\):/);
    terminal.type('Hi {name}\r');
    await terminal.shows(/Send to 2 recipients for 20 credits/);
    terminal.type('y\r');
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect((await outbox()).map(({ text }) => text)).toEqual(['Hi Bat', 'Hi Dorj']);
  });

  it('shows colours, and tables and cards no wider than the terminal', async () => {
    for (let index = 0; index < 2; index += 1) {
      await machine.run(['sms', 'send', '99112233', 'a long text, said twice '.repeat(4)], sandbox);
    }
    const wide = urtuu(['sandbox', 'outbox'], { columns: 200 });
    await wide.ended;
    expect(wide.raw).toContain('\u001b[1mDELIVERED AT');
    const wrapped = urtuu(['sandbox', 'outbox'], { columns: 60 });
    const table = (await wrapped.ended).screen;
    expect(table).toMatch(/^\S+ \S+ +sms +99112233 +a long text/m);
    const narrow = urtuu(['sandbox', 'outbox'], { columns: 40 });
    const cards = (await narrow.ended).screen;
    expect(cards).toMatch(/^to +99112233$/m);
    const long = (text: string, columns: number) =>
      text.split('\n').filter((line) => line.length > columns && !line.startsWith('/'));
    expect([...long(table, 60), ...long(cards, 40)]).toEqual([]);
    const plain = urtuu(['sandbox', 'outbox'], { columns: 200, env: { NO_COLOR: '1' } });
    await plain.ended;
    expect(plain.raw).not.toContain('\u001b[');
  });

  it('leaves a terminal that a signal interrupts as it was', async () => {
    await using server = await Loopback.listen(() => {});
    const env = { URTUU_API_KEY: testKey, URTUU_BASE_URL: `${server.origin}/v1` };
    const terminal = urtuu(['sms', 'send', '99112233', 'hi'], { env });
    await terminal.shows(/Sending/);
    terminal.type('\u0003');
    const { signal, screen } = await terminal.ended;
    expect(signal).toBe('SIGINT');
    expect(screen.replace(/\s+/g, ' ')).toMatch(/--idempotency-key \S+, which cannot send it twice/);
    // The spinner hides the cursor; it has to be shown again.
    expect(terminal.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.raw.lastIndexOf('\u001b[?25l'));
    expect(existsSync(join(machine.home, 'state/urtuu/jobs'))).toBe(false);
  });
});
