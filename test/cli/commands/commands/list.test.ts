import type { Argument, Command, Option } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { program as programOf } from '../../../../scripts/reference/commands.js';
import { loadBody } from '../../../../src/cli/command.js';
import type { CommandRow } from '../../../../src/cli/commands/commands/read-commands.js';
import type { Context } from '../../../../src/cli/context.js';
import { exitMeanings } from '../../../../src/cli/exit-codes.js';
import { commandsOf, nameOf } from '../../../../src/cli/help/command-tree.js';
import { globalOptionTable } from '../../../../src/cli/options.js';
import { answers, fakeService, refusal, run } from '../../../support/run.js';

/** What the program parses: itself and every command with an action, by their names. */
async function parsedCommands(): Promise<Map<string, Command>> {
  const program = programOf();
  const found = new Map([[nameOf(program), program]]);
  const visit = async (command: Command): Promise<void> => {
    await loadBody(command, {} as Context);
    if (commandsOf(command).length === 0) found.set(nameOf(command), command);
    for (const each of commandsOf(command)) await visit(each);
  };
  for (const each of commandsOf(program)) await visit(each);
  return found;
}

let rows: CommandRow[];
let parsed: Map<string, Command>;
beforeAll(async () => {
  rows = JSON.parse((await run('commands --json', { env: {} })).stdout);
  parsed = await parsedCommands();
});

const longOrShort = ({ long, flags }: Option) => long ?? flags.replace(/ .*/, '');
const isGlobal = (option: Option) =>
  globalOptionTable.some(([flags]) => flags.split(/[ ,]+/).includes(longOrShort(option)));
/** Those of a command alone; the program has those of all. */
const optionsOf = ({ options, parent }: Command) =>
  options.filter((each) => parent === null || !isGlobal(each));

describe('urtuu commands --json', () => {
  it('has every command that the program parses, and no other', () => {
    const names = [...parsed.keys()].filter((name) => name !== 'urtuu __complete');
    expect(rows.map(({ name }) => name).sort()).toEqual(names.sort());
  });

  it('has every argument and option that the program parses, and no other', () => {
    for (const { name, ...row } of rows) {
      const command = parsed.get(name) as Command;
      const names = [...optionsOf(command).map(longOrShort), '--help'];
      expect([name, row.options.map((each) => each.name).sort()]).toEqual([name, names.sort()]);
      expect(row.arguments.map((each) => [each.name, each.required, each.variadic])).toEqual(
        command.registeredArguments.map((each) => [each.name(), each.required, each.variadic]),
      );
      for (const each of optionsOf(command)) {
        const { flags, required } = row.options.find((one) => one.name === longOrShort(each)) ?? {};
        expect([name, flags, required]).toEqual([name, each.flags, each.mandatory]);
      }
    }
  });

  const wrong: Record<string, string> = { number: 'x', duration: 'x', time: 'x', choice: 'x' };
  const right: Record<string, string> = { number: '8', duration: '10m', time: '90d' };
  it('has the types and defaults that the program takes', () => {
    const seen = new Set<string>();
    for (const { name, ...row } of rows) {
      const command = parsed.get(name) as Command;
      const check = (
        value: CommandRow['arguments'][number] | CommandRow['options'][number],
        by: Option | Argument,
      ) => {
        const read = by.parseArg as ((written: string, before: unknown) => unknown) | undefined;
        seen.add(value.type);
        for (const each of [...value.choices, right[value.type], value.default])
          if (typeof each === 'string') expect(() => read?.(each, undefined)).not.toThrow();
        const refused = wrong[value.type];
        if (refused !== undefined)
          expect(() => read?.(refused, undefined), `${name} ${value.name}`).toThrow();
        const none = by instanceof Object && 'flags' in by && !by.required && !by.optional;
        expect(value.type === 'boolean').toBe(none);
      };
      for (const each of row.arguments)
        check(each, command.registeredArguments.find((one) => one.name() === each.name) as Argument);
      for (const each of row.options.filter((one) => one.name !== '--help'))
        check(each, command.options.find((one) => longOrShort(one) === each.name) as Option);
    }
    expect([...seen].sort()).toEqual([
      'boolean',
      'choice',
      'duration',
      'file',
      'folder',
      'number',
      'text',
      'time',
      'url',
    ]);
    const defaultOf = (name: string, option: string) =>
      rows.find((row) => row.name === name)?.options.find((each) => each.name === option)?.default;
    expect(defaultOf('urtuu', '--timeout')).toBe('30s');
    expect(defaultOf('urtuu sms bulk', '--max-wait')).toBe('10m');
    expect(defaultOf('urtuu sms bulk', '--concurrency')).toBe('8');
    expect(defaultOf('urtuu sms bulk', '--to-column')).toBeNull();
  });

  it('has itself an example that is true of its command', () => {
    const [{ example = [] } = {}] = rows.find(({ name }) => name === 'urtuu commands')?.json ?? [];
    for (const { name, usage, effects, summary, description } of example as CommandRow[])
      expect(rows).toContainEqual(expect.objectContaining({ name, usage, effects, summary, description }));
    expect(example).toHaveLength(1);
  });

  const asMailPrograms = ['urtuu sendmail', 'urtuu service incoming'];
  const endless = ['urtuu serve', 'urtuu events listen'];
  it('has the exit codes of the table', () => {
    const all = Object.entries(exitMeanings).map(([code, meaning]) => ({ code: Number(code), meaning }));
    expect(rows.find(({ name }) => name === 'urtuu')?.exits).toEqual(all);
    for (const { name, exits } of rows.filter((row) => !asMailPrograms.includes(row.name))) {
      const codes = exits.map(({ code }) => code);
      const known = [...all.map(({ code }) => code), ...(endless.includes(name) ? [130, 143] : [])];
      expect(known).toEqual(expect.arrayContaining(codes));
      expect(codes).toEqual(expect.arrayContaining([1, 2, 13]));
      expect(new Set(codes).size).toBe(codes.length);
    }
  });

  it('says of a command whether it sends, as its own examples do', async () => {
    const posting = new Set<string>();
    for (const { name, examples } of rows.filter(
      (row) => !/ (?:serve|service|sandbox|keys)\b/.test(row.name),
    )) {
      for (const { line } of examples) {
        const called = /\burtuu ((?:'[^']*'|"[^"]*"|[^|&<>)])*)/.exec(line)?.[1] ?? '';
        const { fetch, requests } = fakeService(() => refusal(404, 'not_found'));
        const questions = answers('123456', '123456');
        await run(`${called} --yes`, { fetch, questions, terminal: 100, stdin: 'To: a@b.mn\n\nHi' });
        if (requests.some(({ method }) => method === 'POST')) posting.add(name);
      }
    }
    const acting = rows.filter(({ effects }) => effects.includes('spends')).map(({ name }) => name);
    expect(acting).toEqual(expect.arrayContaining([...posting]));
    // Not those that need a file, a job or a gateway.
    expect([...posting].sort()).toEqual(
      ['api', 'email send', 'sendmail', 'sms send', 'verify check', 'verify create'].map(
        (each) => `urtuu ${each}`,
      ),
    );
  });

  it('narrows to a group or a command', async () => {
    const of = async (line: string) =>
      JSON.parse((await run(`${line} --json`, { env: {} })).stdout).map(({ name }: CommandRow) => name);
    expect(await of('commands verify')).toEqual(
      ['create', 'check', 'get'].map((each) => `urtuu verify ${each}`),
    );
    expect(await of('commands service keys list')).toEqual(['urtuu service keys list']);
    expect(await of('commands commands')).toEqual(['urtuu commands']);
    expect(await of('--profile nobody commands balance')).toEqual(['urtuu balance']);
  });
});

it('urtuu commands is a list for people, in 80 columns', async () => {
  const { code, stdout } = await run('commands', { env: {}, terminal: 80 });
  expect(code).toBe(0);
  expect(stdout).toMatch(/urtuu sms send +sends, spends +Send one SMS/);
  for (const line of stdout.split('\n'))
    expect(line.replace(/\u001b\[\d+m/g, '').length).toBeLessThanOrEqual(80);
});
