import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exit } from '../../src/cli/exit-codes.js';
import { answers, run, type Setting } from '../support/run.js';

let home: string;
let message: string;
let batch: string;
let verification: string;
/** The code of `verification`; its last digit is wrong in `wrong`. */
let code: string;
let wrong: string;

const env = { URTUU_SANDBOX: '1', URTUU_API_KEY: 'a-key-of-nobody' };
const here = (line: string, setting: Setting = {}) => run(line, { home, env, ...setting });
const json = async (line: string) => JSON.parse((await here(`${line} --json`)).stdout);

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'urtuu-every-'));
  writeFileSync(join(home, 'two.csv'), 'phone,name\n99119001,Бат\n99119002,Цэцэг\n');
  writeFileSync(join(home, 'mixed.csv'), 'phone,name\n99119003,Бат\nnobody,Цэцэг\n');
  writeFileSync(join(home, 'mails.csv'), 'email\nbat@example.mn\nbold@example.mn\n');
  ({ id: message } = await json('sms send 99112233 hello'));
  ({ id: verification } = await json('verify create 88001122'));
  const [sent] = await json('sandbox outbox --to 88001122');
  code = /\d{6}/.exec(sent.text)?.[0] ?? '';
  wrong = `${code.slice(0, 5)}${(Number(code[5]) + 1) % 10}`;
  ({
    batches: [{ id: batch }],
  } = JSON.parse((await here('sms bulk two.csv --text hi --job july --yes --json', { cwd: home })).stdout));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

let recipients = 0;
/** Another number each time: one recipient may get only so many messages. */
const number = () => `9922${String(recipients++).padStart(4, '0')}`;

interface Case {
  line: () => string;
  code?: Exit;
  /** What people read; nothing when absent. */
  stdout?: RegExp;
  stderr?: RegExp;
  /** What programs read: where it is in the help, or nothing. */
  json?: 'object' | 'array';
  /** Words after the command that its help has this JSON for. */
  shape?: string;
  /** No table, so no columns. */
  text?: true;
  stdin?: string;
  answers?: (string | boolean)[];
  /** A run of it changes what the next one finds. */
  prepare?: () => Promise<unknown>;
}

const wellKey = 'another-key-of-nobody';
const login = () =>
  here('login --api-key-file - --base-url http://127.0.0.1:1/v1 --max-retries 0', { stdin: wellKey });
const newKey = async () => (await json('keys create')).id;

let spareKey = '';

/** Every command, as it goes well and as it does not. */
const cases: Case[] = [
  { line: () => `sms send ${number()} 'Сайн уу'`, stdout: /^status +sent$/m, json: 'object', shape: '' },
  {
    line: () => `sms send ${number()} -`,
    stdin: 'hi\n',
    stdout: /^status +sent$/m,
    json: 'object',
    shape: '',
  },
  {
    line: () => 'sms send 99112233 hi --dry-run',
    stdout: /^credits +10$/m,
    json: 'object',
    shape: 'with --dry-run',
  },
  { line: () => 'sms send 70112233 hi', code: 8, stderr: /unsupported_number/ },
  { line: () => 'sms send 99000001 hi --max-retries 0', code: 9, stderr: /provider_failed/ },
  { line: () => 'sms send 99000012 hi --max-retries 0', code: 6, stderr: /--idempotency-key/ },
  {
    line: () => 'sms bulk two.csv --text hi --dry-run',
    stdout: /recipients +2/,
    stderr: /^$/,
    json: 'object',
  },
  {
    line: () => `sms bulk two.csv --text ${number()} --yes`,
    stdout: /^accepted +2$/m,
    stderr: /Certain: 2/,
    json: 'object',
  },
  { line: () => 'sms bulk two.csv --text hi --job july --yes', code: 11, stderr: /ran already/ },
  { line: () => 'sms bulk mixed.csv --text hi --yes', code: 8, stderr: /mixed\.csv:3/ },
  {
    line: () => `sms bulk mixed.csv --text ${number()} --yes --skip-invalid`,
    code: 3,
    stdout: /^rejected +1$/m,
    stderr: /1 rejected/,
    json: 'object',
  },
  { line: () => 'sms bulk nowhere.csv --text hi --yes', code: 13, stderr: /does not exist/ },
  {
    line: () => `email send ${number()}@example.mn --subject s --text t`,
    stdout: /^status +queued$/m,
    json: 'object',
    shape: '',
  },
  {
    line: () => `email send ${number()}@example.mn --subject s --text t --wait`,
    stdout: /^status +sent$/m,
    stderr: /waiting/,
    json: 'object',
    shape: '',
  },
  {
    line: () => 'email send bat@example.mn --subject s --html x --dry-run',
    stdout: /^credits +2$/m,
    json: 'object',
    shape: 'with --dry-run',
  },
  {
    line: () => 'email send fault-2s@example.mn --subject s --text t --wait --wait-timeout 0',
    code: 14,
    stdout: /queued/,
    stderr: /not final yet/,
    json: 'object',
    shape: '',
  },
  {
    line: () => `email bulk mails.csv --subject s --text ${number()} --yes`,
    stdout: /^accepted +2$/m,
    stderr: /Certain: 2/,
    json: 'object',
  },
  { line: () => `verify create ${number()}`, stdout: /^status +pending$/m, json: 'object', shape: '' },
  { line: () => 'verify create nobody', code: 8, stderr: /invalid_request/ },
  { line: () => `verify get ${verification}`, stdout: /^status +pending$/m, json: 'object', shape: '' },
  { line: () => 'verify get nothing', code: 12, stderr: /not_found/ },
  { line: () => `verify check ${verification} ${wrong}`, code: 10, stderr: /Tries left: \d/ },
  { line: () => 'verify check nothing 123456', code: 12, stderr: /not_found/ },
  { line: () => `messages get ${message}`, stdout: /^status +sent$/m, json: 'object', shape: 'of one id' },
  {
    line: () => `messages get ${message} nothing`,
    code: 3,
    stdout: /not_found/,
    stderr: /1 of 2 ids/,
    json: 'array',
    shape: 'of several',
  },
  {
    line: () => 'messages get a b',
    code: 12,
    stdout: /not_found/,
    stderr: /none of the 2 ids/,
    json: 'array',
  },
  { line: () => 'messages get -', stdin: 'nothing\n', code: 12, stderr: /not_found/ },
  {
    line: () => `batches get ${batch} --wait`,
    stdout: /^status +completed$/m,
    json: 'object',
    shape: 'of one id',
  },
  {
    line: () => `batches get ${batch} nothing`,
    code: 3,
    stdout: /not_found/,
    stderr: /1 of 2 ids/,
    json: 'array',
    shape: 'of several',
  },
  {
    line: () => `batches get ${batch} --messages`,
    stdout: /99119001/,
    json: 'array',
    shape: 'with --messages',
  },
  { line: () => 'balance', stdout: /^balance +\d+$/m, json: 'object', shape: '' },
  {
    line: () => 'balance --min 100000000',
    code: 7,
    stdout: /^balance/,
    stderr: /is below 100,000,000/,
    json: 'object',
  },
  { line: () => 'pricing', stdout: /^max parts +5$/m, json: 'object', shape: '' },
  {
    line: () => "pricing --text 'Сайн уу'",
    stdout: /^kind +cyrillic$/m,
    json: 'object',
    shape: 'with --text',
  },
  { line: () => 'jobs list', stdout: /july/, json: 'array' },
  { line: () => 'jobs show july', stdout: /^job +july$/m, json: 'object' },
  { line: () => 'jobs show nothing', code: 12, stderr: /there is no job/ },
  { line: () => 'jobs resume july', code: 11, stderr: /ran already/ },
  { line: () => 'jobs report july', stdout: /^phone,name,message_id/m, text: true },
  {
    line: () => 'jobs remove spare',
    prepare: () => here(`sms bulk two.csv --text ${number()} --job spare --yes`, { cwd: home }),
    text: true,
  },
  {
    line: () => 'login --api-key-file - --base-url http://127.0.0.1:1/v1 --max-retries 0',
    stdin: wellKey,
    stdout: /^key +stored$/m,
    stderr: /could not be tried/,
    json: 'object',
    shape: '',
  },
  { line: () => 'logout --yes', prepare: login, stderr: /^Removed profile default\.$/m, text: true },
  { line: () => 'logout --profile nobody --yes', code: 2, stderr: /no profile 'nobody'/ },
  { line: () => 'profiles list', prepare: login, stdout: /default/, json: 'array', shape: '' },
  { line: () => 'profiles show', prepare: login, stdout: /^name +default$/m, json: 'object', shape: '' },
  { line: () => 'profiles show nobody', code: 2, stderr: /no profile/ },
  {
    line: () => 'profiles use default',
    prepare: login,
    stderr: /^Now using profile default\.$/m,
    text: true,
  },
  { line: () => 'doctor', stdout: /service/, json: 'array', shape: '' },
  { line: () => 'sandbox outbox --limit 2', stdout: /99/, json: 'array', shape: '' },
  { line: () => 'sandbox credit 1', stdout: /^balance/, json: 'object', shape: '' },
  { line: () => 'sandbox credit', code: 2, stderr: /either credits or --set/ },
  { line: () => 'keys list', prepare: newKey, stdout: /^ID/, json: 'array', shape: '' },
  { line: () => 'keys revoke nothing --yes', code: 12, stderr: /no active key/ },
  {
    line: () => `keys revoke ${spareKey} --yes`,
    prepare: async () => {
      spareKey = await newKey();
    },
    stderr: /^Revoked key/m,
    text: true,
  },
  {
    line: () => 'keys create',
    prepare: async () => {
      for (const { id } of await json('keys list')) await here(`keys revoke ${id} --yes`);
    },
    stdout: /urtuu_\w{40}/,
    stderr: /not shown again/,
    json: 'object',
    shape: '',
  },
  { line: () => 'completion zsh', stdout: /#compdef urtuu/, text: true },
  { line: () => 'completion tcsh', code: 2, stderr: /none of bash/ },
  { line: () => 'help jobs', stdout: /^Jobs$/m, text: true },
  { line: () => 'help nothing', code: 2, stderr: /no help topic/ },
  { line: () => 'sendmail -t', stdin: 'To: cron@example.mn\nSubject: s\n\ntext\n', text: true },
  { line: () => 'sendmail -t', code: 64, stderr: /no recipient/ },
];

const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;
const colour = /\u001b\[(?:1|22|3[1-3]|39)m/g;
const named = (line: () => string) => line.toString().replace(/^\(\) => /, '');

/** The help's example of JSON, and the exit codes it names. */
async function helpOf(line: string) {
  const [first = '', second = ''] = line.split(' ');
  const group = ['sms', 'email', 'verify', 'messages', 'batches', 'jobs', 'profiles', 'sandbox', 'keys'];
  const { stdout } = await run(`${first} ${group.includes(first) ? second : ''} --help`, { env: {} });
  return {
    codes: [...stdout.matchAll(/^ {2}( \d|\d\d) {2}\S/gm)].map(([, each]) => Number(each)),
    example: (of: string) => {
      const start = stdout.indexOf(`\nJSON${of && ` ${of}`}:\n`);
      const [, text = ''] = /:\n((?: {2}.*\n)+)/.exec(stdout.slice(start)) ?? [];
      return start === -1 ? undefined : JSON.parse(text.replaceAll('\n', ' '));
    },
  };
}

/** Names of the fields, within each other; what a value is counts only where both have one. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inside]) => [name, shapeOf(inside)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

describe('every command', () => {
  it.each(cases.map((each) => [named(each.line), each] as const))('%s', async (_, each) => {
    const { line, code = 0, stdout = /^$/, stderr = /^$/, stdin = '', prepare } = each;
    const setting = { stdin, cwd: home };

    await prepare?.();
    const pipe = await here(line(), setting);
    expect(pipe).toMatchObject({ code, stdout: expect.stringMatching(stdout) });
    // Nothing but notes, warnings or an error with its hint.
    if (stderr.source !== '^$') expect(pipe.stderr).toMatch(stderr);
    else if (!line().includes('bulk')) expect(pipe.stderr).toBe('');
    if (code !== 0 && code !== 3 && stdout.source === '^$')
      expect(pipe.stderr).toMatch(/(?:^|\n)urtuu: .+\n {2}\S.*\n$/);
    expect(pipe.stdout.replaceAll('\r\n', '\n') + pipe.stderr).not.toMatch(control);

    await prepare?.();
    // Nothing is missing, so nothing may be asked but what `--yes` answers.
    const terminal = await here(line(), { ...setting, terminal: 80, questions: answers() });
    expect(terminal).toMatchObject({ code });
    const said = terminal.stdout.replaceAll(colour, '');
    expect(said).not.toMatch(control);
    expect(said).toMatch(stdout);
    expect(terminal.stderr.replaceAll(colour, '')).toMatch(stderr.source === '^$' ? /^/ : stderr);

    await prepare?.();
    const program = await here(`${line()} --json`, setting);
    expect(program.code).toBe(code);
    const help = await helpOf(line());
    if (!line().startsWith('help')) expect(help.codes).toContain(code);
    if (each.json === undefined) {
      if (each.text === undefined) expect(program.stdout).toBe('');
    } else {
      const value = JSON.parse(program.stdout);
      expect(Array.isArray(value) ? 'array' : typeof value).toBe(each.json);
      if (each.shape !== undefined) expect(shapeOf(value)).toEqual(shapeOf(help.example(each.shape)));
    }
    if (code !== 0 && code !== 3) {
      const { error } = JSON.parse(program.stderr.trim().split('\n').at(-1) ?? '');
      expect(error.hint).toBeTypeOf('string');
      if (typeof code === 'number' && code < 64) expect(error.exit).toBe(code);
    }
  });

  // A dry run of a bulk send prints another table than the send.
  const listed = cases.filter(
    ({ json, code, line }) => json !== undefined && code === undefined && !/bulk.*--dry-run/.test(line()),
  );
  it.each(listed.map((each) => [named(each.line), each] as const))(
    'has the same columns in ndjson, csv and --columns: %s',
    async (_, { line, stdin = '', prepare }) => {
      const setting = { stdin, cwd: home };
      await prepare?.();
      const rows = await here(`${line()} -o ndjson`, setting);
      for (const row of rows.stdout.split('\n').filter(Boolean)) expect(JSON.parse(row)).toBeTypeOf('object');
      await prepare?.();
      const headed = await here(`${line()} -o csv`, setting);
      const columns = (await here(`${line()} --columns`, setting)).stdout.trim().split('\n');
      expect(headed.stdout.split('\r\n')[0]).toBe(columns.join(','));
    },
  );

  it('verify check, with the right code', async () => {
    const { id } = await json('verify create 88001133');
    const [{ text }] = await json('sandbox outbox --to 88001133');
    const right = /\d{6}/.exec(text)?.[0] ?? '';
    const { code: exit, stdout } = await here(`verify check ${id} ${right} --json`);
    expect(exit).toBe(0);
    const { example } = await helpOf('verify check');
    expect(shapeOf(JSON.parse(stdout))).toEqual(shapeOf(example('')));
  });

  it('sandbox reset, which leaves nothing', async () => {
    expect(await here('sandbox reset')).toMatchObject({ code: 2, stdout: '' });
    const declined = await here('sandbox reset', { terminal: 80, questions: answers(false) });
    expect(declined).toMatchObject({ code: 2, stdout: '' });
    expect(await json('sandbox outbox')).not.toEqual([]);
    const { code: exit, stderr } = await here('sandbox reset --yes');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.stringContaining('is empty') });
    expect(await json('sandbox outbox')).toEqual([]);
  });
});
