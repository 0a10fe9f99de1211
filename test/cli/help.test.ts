import { describe, expect, it } from 'vitest';
import { commandPages, program } from '../../scripts/reference/commands.js';
import { exitMeanings } from '../../src/cli/exit-codes.js';
import { overview } from '../../src/cli/help/overview.js';
import { faultsOnDemand } from '../../src/service/index.js';
import { answers, fakeService, refusal, run } from '../support/run.js';

/** Every command with a page of its own, but help itself. */
const commands = (await commandPages())
  .map(({ name }) => name.replace(/^urtuu /, ''))
  .filter((name) => name !== 'help');

describe('help', () => {
  it.each(commands)('of `%s` has examples and exit codes, and fits 80 columns', async (command) => {
    const { code, stdout, stderr } = await run(`${command} --help`, { env: {} });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Examples:\n( {2}#.*\n {2}.*\n){2}/);
    expect(stdout).toContain('Exit codes');
    const prose = stdout.split('\n').filter((line) => !/^ {2}\S*urtuu /.test(line));
    for (const line of prose) expect(line.length).toBeLessThanOrEqual(80);
    expect((await run(`help ${command}`, { env: {} })).stdout).toBe(stdout);
  });

  // What it says is in docs/commands.md, which test/reference.test.ts compares with the program.
  it.each(['', 'sms send', 'sms bulk'])('of `urtuu %s` keeps its layout', async (command) => {
    expect((await run(`${command} --help`, { env: {} })).stdout).toMatchSnapshot();
  });

  it.each(commands)('of `%s` shows command lines that it understands', async (command) => {
    const { stdout } = await run(`${command} --help`, { env: {} });
    const examples = [...stdout.matchAll(/^ {2}# .*\n {2}(.*)$/gm)].map(([, line = '']) => line);
    expect([2, 3]).toContain(examples.length);
    for (const line of examples) {
      const called = /\burtuu ((?:'[^']*'|"[^"]*"|[^|&<>)])*)/.exec(line)?.[1] ?? '';
      expect(called).not.toBe('');
      if (command === 'serve') continue;
      const { fetch } = fakeService(() => refusal(404, 'not_found'));
      const questions = answers('123456', '123456');
      const { stderr } = await run(`${called} --yes`, { fetch, questions, terminal: 100 });
      expect(stderr).not.toMatch(/unknown|takes|needs a value|--\S+: |<\S+>: |missing:/);
    }
  });

  it.each(['options', 'exit-codes', 'sandbox', 'environment', 'csv', 'templates', 'jobs'])(
    'on %s',
    async (topic) => {
      const { code, stdout } = await run(`help ${topic}`, { env: {} });
      expect(code).toBe(0);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    },
  );

  it('on exit codes names them all', async () => {
    const { stdout } = await run('help exit-codes', { env: {} });
    for (const meaning of Object.values(exitMeanings)) expect(stdout.replace(/\s+/g, ' ')).toContain(meaning);
  });

  it('on the sandbox tells of every recipient that goes wrong', async () => {
    const { stdout } = await run('help sandbox', { env: {} });
    const rows = [...stdout.matchAll(/^ {2}(99\d{6}) {2}(\S*) +(.*(?:\n {35}.*)*)$/gm)].map(
      ([, number, localPart, effect = '']) => ({ number, localPart, effect: effect.replace(/\s+/g, ' ') }),
    );
    expect(rows).toEqual(
      faultsOnDemand.map(({ number, localPart, effect }) => ({
        number,
        localPart: localPart ?? '',
        effect,
      })),
    );
  });

  it('of the whole names every command; so does urtuu alone', async () => {
    const { code, stdout } = await run('--help', { env: {} });
    expect(code).toBe(0);
    const words = stdout.split(/[^a-z]+/);
    for (const command of commands) expect(words).toContain(command.split(' ')[0]);
    expect(stdout).not.toContain('__complete');
    expect(stdout).not.toContain('Other');
    expect(await run('', { env: {} })).toMatchObject({ code: 0, stdout });
  });

  it.each([80, 100, 72, 60, 40])('of the whole fits a terminal of %i columns', async (terminal) => {
    const { stdout } = await run('', { env: {}, terminal });
    const lines = stdout.trimEnd().split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(terminal);
    // A line is for the prompt.
    if (terminal >= 80) expect(lines.length).toBeLessThan(24);
  });

  it('of the whole shows a command that no group names', () => {
    const tree = program();
    tree.command('teleport').summary('Send by other means');
    const text = overview(tree, 80);
    expect(text).toMatch(/^Other +teleport +Send by other means$/m);
    expect(text).toMatch(/^Look up +messages, batches, inbox +Show what was sent and received$/m);
    expect(text).not.toContain(
      program()
        .commands.find((each) => each.name() === 'inbox')
        ?.summary(),
    );
  });

  it('on options names them all', async () => {
    const { stdout } = await run('help options', { env: {} });
    for (const name of program().options.flatMap(({ long }) => long ?? []))
      if (name !== '--version') expect(stdout).toContain(`${name} `);
  });

  it('is offered where a word is wrong or missing', async () => {
    const group = await run('sms', { env: {} });
    expect(group).toMatchObject({ code: 2, stdout: '' });
    expect(group.stderr).toContain('which command? urtuu sms has: send, bulk');
    const typo = await run('sms sent', { env: {} });
    expect(typo).toMatchObject({ code: 2 });
    expect(typo.stderr).toContain('Did you mean urtuu sms send?');
    expect(await run('help nothing', { env: {} })).toMatchObject({ code: 2 });
    expect(await run('balance extra', { env: {} })).toMatchObject({ code: 2 });
  });
});
