import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { exitMeanings } from '../../src/cli/exit-codes.js';
import { root } from '../support/binary.js';
import { ReaderMachine } from './reader-machine.js';

interface Action {
  inputs: Record<string, { description: string; required?: boolean; default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: { id: string; shell: string; run: string; env: Record<string, string> }[] };
}
const folder = join(root, 'deploy/action');
const action: Action = parse(readFileSync(join(folder, 'action.yml'), 'utf8'), { strict: true });
const [step] = action.runs.steps;

let machine: ReaderMachine;
beforeEach(async () => {
  const opened = await ReaderMachine.open();
  onTestFinished(() => opened[Symbol.asyncDispose]());
  machine = opened;
});

/** Runs the step as a runner does: inputs and their defaults in its variables, outputs from a file. */
async function use(inputs: Record<string, string>) {
  const given: Record<string, string | undefined> = {
    'base-url': machine.sandbox.url,
    'api-key': machine.sandbox.key,
    ...inputs,
  };
  const env: Record<string, string> = {
    PATH: machine.environment.PATH ?? '',
    HOME: join(machine.folder, 'home'),
    CI: 'true',
    GITHUB_ACTION_PATH: folder,
    GITHUB_OUTPUT: machine.write('outputs', ''),
    GITHUB_RUN_ID: '17',
    GITHUB_JOB: 'deploy',
  };
  for (const [name, expression] of Object.entries(step?.env ?? {})) {
    const [, input = ''] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression) ?? [];
    env[name] = given[input] ?? action.inputs[input]?.default ?? '';
  }
  const outcome = await machine.run('sh', ['-e', '-c', step?.run ?? ''], env);
  const outputs = Object.fromEntries(
    readFileSync(join(machine.folder, 'outputs'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  return { ...outcome, outputs };
}

const sent = async () => {
  await machine.sandbox.settled();
  return (await machine.sandbox.outbox()).map(({ to, text }) => [to, text]);
};

describe('the action', () => {
  it('is a composite action whose step reads every input, and whose outputs it writes', () => {
    expect(action.runs.using).toBe('composite');
    const read = Object.values(step?.env ?? {}).map((value) => /inputs\.([\w-]+)/.exec(value)?.[1]);
    expect(read.sort()).toEqual(Object.keys(action.inputs).sort());
    for (const { description } of Object.values(action.inputs)) expect(description).toMatch(/^[A-Za-z]/);
    for (const [name, { value }] of Object.entries(action.outputs)) {
      expect(value).toBe(`\${{ steps.${step?.id}.outputs.${name} }}`);
    }
  });

  it('passes inputs as variables, never as part of the script', async () => {
    for (const { run } of action.runs.steps) expect(run).not.toContain('${{');
    const text = '$(touch pwned) `touch pwned` "; touch pwned; " \'; touch pwned';
    expect(await use({ to: '99112233', text, name: '$(touch pwned)', wait: '; touch pwned' })).toMatchObject({
      code: 0,
    });
    expect(await sent()).toEqual([['99112233', text]]);
    expect(existsSync(join(machine.folder, 'pwned'))).toBe(false);
  });

  it('sends one message, which a rerun does not repeat', async () => {
    const one = { to: '99112233', text: '-- Deployed, "all" of it: $HOME' };
    expect(await use(one)).toMatchObject({ code: 0, outputs: { exit: '0', meaning: exitMeanings[0] } });
    expect(await use(one)).toMatchObject({ code: 0, outputs: { exit: '0' } });
    expect(await use({ ...one, name: 'again' })).toMatchObject({ code: 0 });
    expect(await sent()).toEqual([
      ['99112233', one.text],
      ['99112233', one.text],
    ]);
  });

  it('sends an email with the text of a file', async () => {
    const email = { channel: 'email', to: 'bat@example.mn', subject: 'Тайлан', 'text-file': 'text.txt' };
    expect(await use(email)).toMatchObject({ code: 0 });
    expect(await sent()).toEqual([['bat@example.mn', 'Сайн уу {name}']]);
  });

  it('sends a list with a report, which a rerun on a fresh machine does not repeat', async () => {
    const bulk = { file: 'list.csv', text: 'Hi {name}', report: 'report.csv', 'max-credits': '100' };
    expect(await use(bulk)).toMatchObject({ code: 0, outputs: { exit: '0' } });
    expect(readFileSync(join(machine.folder, 'report.csv'), 'utf8').match(/,sent,/g)).toHaveLength(2);
    await machine.run('rm', ['-r', 'home']);
    expect(await use(bulk)).toMatchObject({ code: 0 });
    expect(await sent()).toHaveLength(2);
  });

  it.each<[number, Record<string, string>]>([
    [4, { to: '99112233', text: 'Hi', 'api-key': `urtuu_${'A'.repeat(40)}` }],
    [5, { to: '99112233', text: 'Hi', 'base-url': 'http://127.0.0.1:9/v1' }],
    [7, { file: 'list.csv', text: 'Hi', 'max-credits': '1' }],
    [8, { to: '123', text: 'Hi' }],
    [9, { to: '99000001', text: 'Hi' }],
    [13, { file: 'no-such.csv', text: 'Hi' }],
  ])('fails with exit %i and its meaning: %j', async (exit, inputs) => {
    const { code, outputs } = await use(inputs);
    expect({ code, outputs }).toEqual({
      code: exit,
      outputs: { exit: String(exit), meaning: exitMeanings[exit as keyof typeof exitMeanings] },
    });
  });

  it.each<[Record<string, string>]>([
    [{ text: 'Hi' }],
    [{ to: '99112233' }],
    [{ to: '99112233', file: 'list.csv', text: 'Hi' }],
    [{ to: '99112233', text: 'Hi', 'text-file': 'text.txt' }],
    [{ to: '99112233', text: 'Hi', channel: 'fax' }],
  ])('refuses inputs that do not fit, and sends nothing: %j', async (inputs) => {
    const { code, stdout } = await use(inputs);
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringMatching(/^::error title=urtuu::\w+/) });
    expect(await sent()).toEqual([]);
  });

  it('has the meaning of every exit code', async () => {
    const { stdout } = await machine.run('sh', ['-c', 'urtuu help exit-codes'], machine.environment);
    const script = readFileSync(join(folder, 'send.sh'), 'utf8');
    const awk = /awk -v code="\$status" '\n([\s\S]*?)'\)/.exec(script)?.[1] ?? '';
    machine.write('table', stdout);
    for (const [exit, meaning] of Object.entries(exitMeanings)) {
      const found = await machine.run('awk', ['-v', `code=${exit}`, awk, 'table']);
      expect([exit, found.stdout]).toEqual([exit, meaning]);
    }
  });
});
