import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandRow } from '../../src/cli/commands/commands/read-commands.js';
import { answers, type Result, run } from '../support/run.js';
import { CommandHome } from './command-home.js';
import { commandLines } from './command-lines.js';

/** What programs know of the commands. */
const commands: Promise<CommandRow[]> = run('commands --json', { env: {} }).then(({ stdout }) =>
  JSON.parse(stdout).slice(1),
);
const home = new CommandHome();
const { here } = home;
const json = (line: string) => home.json(line);
beforeAll(async () => {
  await home.open();
  await home.bounce('bounced@example.mn');
});
afterAll(() => home.close());

const cases = commandLines(home.known, (line, setting) => here(line, { cwd: home.path, ...setting }));

const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;
const colour = /\u001b\[(?:1|22|3[1-3]|39)m/g;
/** Every send goes to the embedded service here, and says so. */
const sandboxed = /^warning: Sandbox: .*\n/;
const named = (line: () => string) => line.toString().replace(/^\(\) => /, '');

/** The examples of JSON in the list of commands, and the exit codes it names. */
async function referenceOf(line: string) {
  const command = (await commands).find(({ name }) => `urtuu ${line} `.startsWith(`${name} `));
  return {
    codes: command?.exits.map(({ code }) => code),
    example: (of: string) => command?.json.find(({ when }) => (when ?? '') === of)?.example,
  };
}

/** Names of the fields, within each other and in their order; of a list those of its first. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return null;
  return Object.entries(value).map(([name, inside]) => [name, shapeOf(inside)]);
}

function withoutSandbox(result: Result): Result {
  return { ...result, stderr: result.stderr.replace(sandboxed, '') };
}
/** An email has no parts; a price list and settings have fields within others. */
const onlyInTables = new Set(['parts', 'rate_multiplier', 'delivery', 'carrier_code']);
const nested = /^(?:pricing$|(?:sandbox|service) settings )/;

describe('every command', () => {
  it.each(cases.map((each) => [named(each.line), each] as const))('%s', async (_, each) => {
    const { line, code = 0, stdout = /^$/, stderr = /^$/, stdin = '', prepare } = each;
    const setting = { stdin, cwd: home.path };

    await prepare?.();
    const pipe = withoutSandbox(await here(line(), setting));
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
    const reference = await referenceOf(line());
    if (!line().startsWith('help')) expect(reference.codes).toContain(code);
    if (each.json === undefined) {
      if (each.text === undefined) expect(program.stdout).toBe('');
    } else {
      const value = JSON.parse(program.stdout);
      expect(Array.isArray(value) ? 'array' : typeof value).toBe(each.json);
      delete value.sandbox;
      if (each.shape !== undefined) expect(shapeOf(value)).toEqual(shapeOf(reference.example(each.shape)));
    }
    if (code !== 0 && code !== 3) {
      const { error } = JSON.parse(program.stderr.trim().split('\n').at(-1) ?? '');
      expect(error.hint).toBeTypeOf('string');
      if (typeof code === 'number' && code < 64) expect(error.exit).toBe(code);
    }
  });

  const listed = cases.filter(({ json, code }) => json !== undefined && code === undefined);
  it.each(listed.map((each) => [named(each.line), each] as const))(
    'has the same columns in ndjson, csv and --columns: %s',
    async (_, { line, stdin = '', prepare }) => {
      const setting = { stdin, cwd: home.path };
      await prepare?.();
      const rows = await here(`${line()} -o ndjson`, setting);
      const records = rows.stdout.split('\n').filter(Boolean);
      const fields = records.map((row) => Object.keys(JSON.parse(row)));
      expect(fields.length).toBeGreaterThan(0);
      await prepare?.();
      const headed = await here(`${line()} -o csv`, setting);
      const columns = (await here(`${line()} --columns`, setting)).stdout.trim().split('\n');
      expect(headed.stdout.split('\r\n')[0]).toBe(columns.join(','));
      if (nested.test(line())) return;
      for (const all of fields) {
        // That nobody received it stands only in JSON, where a program cannot overlook it.
        const names = all.filter((name) => name !== 'sandbox');
        expect(names).toEqual(columns.filter((name) => !onlyInTables.has(name) || names.includes(name)));
      }
    },
  );

  it('verify check, with the right code', async () => {
    const { id } = await json('verify create 88001133');
    const [{ text }] = await json('sandbox outbox --to 88001133');
    const right = /\d{6}/.exec(text)?.[0] ?? '';
    const { code: exit, stdout } = await here(`verify check ${id} ${right} --json`);
    expect(exit).toBe(0);
    const { example } = await referenceOf('verify check');
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
