import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Captured, run } from '../support/run.js';

let home: string;
let id: string;
let verification: string;
let key: string;
const env = { URTUU_SANDBOX: '1' };
const json = async (line: string) => JSON.parse((await run(`${line} --json`, { home, env })).stdout);

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'urtuu-every-'));
  ({ id } = await json('sms send 99112233 hello'));
  ({ id: verification } = await json('verify create 88001122'));
  ({ id: key } = await json('keys create'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

let recipients = 0;
/** Another number each time: one recipient may get only so many messages. */
const number = () => `9911${String(recipients++).padStart(4, '0')}`;

/** Commands that print a result; what JSON they print is an object or an array. */
const table: [line: () => string, json: 'object' | 'array'][] = [
  [() => `sms send ${number()} 'Сайн уу'`, 'object'],
  [() => 'sms send 99112233 hi --dry-run', 'object'],
  [() => `email send ${number()}@example.mn --subject s --text t --wait`, 'object'],
  [() => `verify create ${number()}@example.mn`, 'object'],
  [() => `verify get ${verification}`, 'object'],
  [() => `messages get ${id}`, 'object'],
  [() => `messages get ${id} ${id} --wait`, 'array'],
  [() => 'balance', 'object'],
  [() => 'pricing', 'object'],
  [() => 'pricing --text hi', 'object'],
  [() => 'profiles list', 'array'],
  [() => 'doctor', 'array'],
  [() => 'sandbox outbox', 'array'],
  [() => 'sandbox credit 1', 'object'],
  [() => `keys list`, 'array'],
  [() => 'jobs list', 'array'],
];
const colour = /\u001b\[(?:1|2|22|3[1-6]|39)m/g;
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

describe('every command', () => {
  it.each(table.map(([line, kind]) => [line.toString().slice(6), line, kind] as const))(
    'prints for people and programs: %s',
    async (_, line, kind) => {
      const pipe = await run(line(), { home, env });
      expect(pipe.code).toBe(0);
      expect(pipe.stdout).not.toMatch(control);

      // Standard input is left alone: whatever is missing would be asked for.
      const terminal = await run(line(), { home, env, terminal: 200 });
      expect(terminal.code).toBe(0);
      expect(terminal.stdout.replaceAll(colour, '')).not.toMatch(control);

      const program = await run(`${line()} --json`, { home, env });
      expect(program.code).toBe(0);
      const value = JSON.parse(program.stdout);
      expect(Array.isArray(value) ? 'array' : typeof value).toBe(kind);

      const rows = await run(`${line()} -o ndjson`, { home, env });
      for (const row of rows.stdout.split('\n').filter(Boolean)) expect(JSON.parse(row)).toBeTypeOf('object');
      const csv = await run(`${line()} -o csv --no-header`, { home, env });
      const headed = await run(`${line()} -o csv`, { home, env });
      expect(headed.stdout.split('\r\n').length).toBeGreaterThan(csv.stdout.split('\r\n').length);

      const columns = (await run(`${line()} --columns`, { home, env })).stdout.trim().split('\n');
      expect(headed.stdout.split('\r\n')[0]).toBe(columns.join(','));
    },
  );

  it('fails the same way for people and programs', async () => {
    for (const [line, code] of [
      ['verify check nothing 123456', 12],
      [`verify check ${verification} 1`, 10],
      ['messages get nothing', 12],
      ['batches get nothing', 12],
      ['keys revoke nothing --yes', 12],
      ['sms send 123 hi', 8],
      ['profiles show nobody', 2],
      ['jobs show nothing', 12],
    ] as const) {
      const people = await run(line, { home, env });
      const program = await run(`${line} --json`, { home, env, stdout: new Captured(undefined) });
      expect({ line, code: people.code }).toEqual({ line, code });
      expect(people.stderr).toMatch(/^urtuu: .+\n( {2}.+\n)?$/);
      expect(JSON.parse(program.stderr)).toMatchObject({ error: { exit: code } });
      expect(people.stdout).toBe('');
    }
    expect(await run(`keys revoke ${key} --yes`, { home, env })).toMatchObject({ code: 0 });
  });
});
