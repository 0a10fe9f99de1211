import { describe, expect, it } from 'vitest';
import { exitMeanings } from '../../src/cli/exit-codes.js';
import { faultsOnDemand } from '../../src/service/index.js';
import { answers, fakeService, refusal, run } from '../support/run.js';

const commands = [
  'sms send',
  'sms bulk',
  'email send',
  'email bulk',
  'verify create',
  'verify check',
  'verify get',
  'messages get',
  'batches get',
  'balance',
  'pricing',
  'jobs list',
  'jobs watch',
  'jobs cancel',
  'jobs show',
  'jobs resume',
  'jobs report',
  'jobs remove',
  'login',
  'logout',
  'profiles list',
  'profiles use',
  'profiles show',
  'doctor',
  'serve',
  'service check',
  'sandbox outbox',
  'sandbox reset',
  'sandbox credit',
  'keys create',
  'keys list',
  'keys revoke',
  'completion',
  'sendmail',
];

describe('help', () => {
  it.each(commands)('of `%s` has examples, exit codes, and stays as it is', async (command) => {
    const { code, stdout, stderr } = await run(`${command} --help`, { env: {} });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Examples:\n( {2}#.*\n {2}.*\n){2}/);
    expect(stdout).toContain('Exit codes');
    expect(stdout).toMatchSnapshot();
    const prose = stdout.split('\n').filter((line) => !/^ {2}\S*urtuu /.test(line));
    for (const line of prose) expect(line.length).toBeLessThanOrEqual(80);
    expect((await run(`help ${command}`, { env: {} })).stdout).toBe(stdout);
  });

  it.each(commands)('of `%s` shows command lines that it understands', async (command) => {
    const { stdout } = await run(`${command} --help`, { env: {} });
    const examples = [...stdout.matchAll(/^ {2}# .*\n {2}(.*)$/gm)].map(([, line = '']) => line);
    expect(examples).toHaveLength(2);
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

  it.each(['exit-codes', 'sandbox', 'environment', 'csv', 'templates', 'jobs'])('on %s', async (topic) => {
    const { code, stdout } = await run(`help ${topic}`, { env: {} });
    expect(code).toBe(0);
    expect(stdout).toMatchSnapshot();
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

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

  it('of the whole lists every command and every global option; so does urtuu alone', async () => {
    const { code, stdout } = await run('--help', { env: {} });
    expect(code).toBe(0);
    for (const command of commands) expect(stdout).toContain(`\n  ${command.split(' ')[0]}`);
    expect(stdout).not.toContain('__complete');
    expect(await run('', { env: {} })).toMatchObject({ code: 0, stdout });
  });

  it('is offered where a word is wrong or missing', async () => {
    const group = await run('sms', { env: {} });
    expect(group).toMatchObject({ code: 2, stdout: '' });
    expect(group.stderr).toContain('which command? urtuu sms has: send, bulk');
    const typo = await run('sms sent', { env: {} });
    expect(typo).toMatchObject({ code: 2 });
    expect(typo.stderr).toContain('Did you mean send?');
    expect(await run('help nothing', { env: {} })).toMatchObject({ code: 2 });
    expect(await run('balance extra', { env: {} })).toMatchObject({ code: 2 });
  });
});
