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
  installs('exec urtuu "$@"');
});

/** npm installs a command with this line in the folder it runs in. */
function installs(line: string): void {
  const bin = 'node_modules/.bin';
  machine.write('installed', `#!/bin/sh\n${line}\n`);
  machine.script(
    'npm',
    `{ pwd; ls -A; echo "\${URTUU_API_KEY-no key}"; echo "$*"; } >'${join(machine.folder, 'install')}'
mkdir -p ${bin} && cp '${join(machine.folder, 'installed')}' ${bin}/urtuu && chmod 755 ${bin}/urtuu`,
  );
}

/** What a job knows of itself, by the expressions of the step; the rest are inputs. */
const contexts: Record<string, string> = {
  'toJSON(matrix)': 'null',
  'job.workflow_ref': 'nomad/shop/.github/workflows/ci.yml@refs/heads/main',
  'github.workflow_ref': 'nomad/shop/.github/workflows/ci.yml@refs/heads/main',
};

/** The job that runs the step: its variables, and the contexts of its own. */
interface Surroundings {
  env?: Record<string, string>;
  contexts?: Record<string, string>;
}

/** Runs the step as a runner does: inputs and their defaults in its variables, outputs from a file. */
async function use(inputs: Record<string, string>, job: Surroundings = {}) {
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
    ...job.env,
  };
  for (const [name, expression] of Object.entries(step?.env ?? {})) {
    const [, inside = ''] = /^\$\{\{ (.*) \}\}$/.exec(expression) ?? [];
    const input = inside.replace(/^inputs\./, '');
    env[name] =
      { ...contexts, ...job.contexts }[inside] ?? given[input] ?? action.inputs[input]?.default ?? '';
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

/** Has the commands of the step written down, and not run; gives each without its text. */
function writtenDown() {
  installs(`[ "$1" = help ] || echo "urtuu $*" >>'${join(machine.folder, 'commands')}'`);
  return () => {
    const commands = readFileSync(join(machine.folder, 'commands'), 'utf8').trimEnd().split('\n');
    return commands.map((command) => command.replace(/ --text-file \S+/, ''));
  };
}

const sent = async () => {
  await machine.sandbox.idle();
  return (await machine.sandbox.outbox()).map(({ to, text }) => [to, text]);
};

describe('the action', () => {
  it('is a composite action whose step reads every input, and whose outputs it writes', () => {
    expect(action.runs.using).toBe('composite');
    const read = Object.values(step?.env ?? {}).flatMap((value) => /inputs\.([\w-]+)/.exec(value)?.[1] ?? []);
    expect(read.sort()).toEqual(Object.keys(action.inputs).sort());
    const others = Object.values(step?.env ?? {}).filter((value) => !value.includes('inputs.'));
    expect(others.map((value) => value.slice(4, -3)).sort()).toEqual(Object.keys(contexts).sort());
    for (const { description } of Object.values(action.inputs)) expect(description).toMatch(/^[A-Za-z]/);
    for (const [name, { value }] of Object.entries(action.outputs)) {
      expect(value).toBe(`\${{ steps.${step?.id}.outputs.${name} }}`);
    }
  });

  it('passes inputs as variables, never as part of the script', async () => {
    for (const { run } of action.runs.steps) expect(run).not.toContain('${{');
    const text = '$(touch pwned) `touch pwned` "; touch pwned; " \'; touch pwned';
    const name = '$(touch pwned)';
    expect(await use({ to: '99112233', text, name })).toMatchObject({ code: 0 });
    expect(await use({ to: '99112233', text, name, wait: '; touch pwned' })).toMatchObject({ code: 2 });
    expect(await sent()).toEqual([['99112233', text]]);
    expect(existsSync(join(machine.folder, 'pwned'))).toBe(false);
  });

  it('installs its own version, in an empty folder, without the key', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(action.inputs.version?.default).toBe(version);
    machine.write('.npmrc', 'registry=https://packages.invalid/');
    expect(await use({ to: '99112233', text: 'Hi' })).toMatchObject({ code: 0 });
    const [at, ...lines] = readFileSync(join(machine.folder, 'install'), 'utf8').trimEnd().split('\n');
    expect(at?.startsWith(machine.folder)).toBe(false);
    expect(existsSync(at ?? '')).toBe(false);
    expect(lines).toEqual([
      'package.json',
      'no key',
      `install --ignore-scripts --no-audit --no-fund urtuu@${version}`,
    ]);
  });

  it('sends nothing where its version cannot be installed', async () => {
    machine.script('npm', 'exit 7');
    const { code, outputs } = await use({ to: '99112233', text: 'Hi', version: '0.0.1' });
    expect({ code, meaning: outputs.meaning }).toEqual({
      code: 1,
      meaning: 'urtuu@0.0.1 cannot be installed; nothing was sent',
    });
    expect(await sent()).toEqual([]);
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

  it('gives sends that differ in anything keys that differ', async () => {
    const deployed = { to: '99112233', text: 'Deployed' };
    const jobs: [Record<string, string>, Surroundings?][] = [
      // As one text, job and name would be the same.
      [{ ...deployed, name: 'eu-send' }],
      [{ ...deployed, name: 'send' }, { env: { GITHUB_JOB: 'deploy-eu' } }],
      [{ ...deployed, name: 'eu send' }],
      [deployed, { contexts: { 'toJSON(matrix)': '{\n  "os": "linux"\n}' } }],
      [deployed, { contexts: { 'toJSON(matrix)': '{\n  "os": "macos"\n}' } }],
      [deployed, { env: { GITHUB_WORKFLOW: 'CI' } }],
      [deployed, { env: { GITHUB_WORKFLOW: 'Release' } }],
      [deployed, { env: { GITHUB_REPOSITORY: 'nomad/shop' } }],
      [deployed, { env: { GITHUB_RUN_ID: '18' } }],
      [{ ...deployed, text: 'Deployed again' }],
      [{ ...deployed, to: '88112233' }],
    ];
    const commands = writtenDown();
    for (const attempt of ['1', '2']) {
      for (const [inputs, { env, ...job } = {}] of jobs)
        await use(inputs, { ...job, env: { ...env, GITHUB_RUN_ATTEMPT: attempt } });
    }
    const keys = commands().map((command) => / --idempotency-key (action-[0-9a-f]{40}) /.exec(command)?.[1]);
    expect(keys).toHaveLength(jobs.length * 2);
    expect(new Set(keys)).toHaveLength(jobs.length);
    expect(keys.slice(jobs.length)).toEqual(keys.slice(0, jobs.length));
  });

  it('needs a name from each caller of a reusable workflow, which share everything else', async () => {
    const called = {
      contexts: { 'job.workflow_ref': 'nomad/tools/.github/workflows/tell.yml@refs/heads/v1' },
    };
    const deployed = { to: '99112233', text: 'Deployed' };
    const commands = writtenDown();
    expect(await use(deployed, called)).toMatchObject({ code: 2, outputs: { exit: '2' } });
    for (const name of ['eu', 'us', 'eu'])
      expect(await use({ ...deployed, name }, called)).toMatchObject({ code: 0 });
    const [eu, us, again, ...others] = commands();
    expect([us === eu, again === eu, others]).toEqual([false, true, []]);
    // A server that does not say which workflow a job is of.
    const unsaid = { contexts: { 'job.workflow_ref': '' } };
    expect(await use(deployed, unsaid)).toMatchObject({ code: 0 });
  });

  it('names a bulk job after any name', async () => {
    const commands = writtenDown();
    const names = ['v1.2', 'a b', "Даваа 'гараг'", 'x'.repeat(300)];
    for (const name of [...names, ...names])
      expect(await use({ file: 'list.csv', text: 'Hi {name}', name })).toMatchObject({ code: 0 });
    const jobs = commands().map((command) => / --job (action-[0-9a-f]{40}) /.exec(command)?.[1]);
    expect(jobs.slice(names.length)).toEqual(jobs.slice(0, names.length));
    expect(new Set(jobs)).toHaveLength(names.length);
  });

  it('takes an empty input for one that is not given', async () => {
    const empty = Object.fromEntries(Object.keys(action.inputs).map((name) => [name, '']));
    const { url, key } = machine.sandbox;
    const given = { ...empty, 'base-url': url, 'api-key': key, to: '99112233', text: 'Hi' };
    expect(await use(given)).toMatchObject({ code: 0 });
    expect(await sent()).toEqual([['99112233', 'Hi']]);
  });

  it.each<[Record<string, string>]>([
    [{ text: 'Hi' }],
    [{ to: '99112233' }],
    [{ to: '99112233', file: 'list.csv', text: 'Hi' }],
    [{ to: '99112233', text: 'Hi', 'text-file': 'text.txt' }],
    [{ to: '99112233', text: 'Hi', channel: 'fax' }],
    [{ to: '99112233', text: 'Hi', subject: 'Hi' }],
    [{ to: '99112233', text: 'Hi', 'max-credits': '100' }],
    [{ to: '99112233', text: 'Hi', report: 'report.csv' }],
    [{ to: '99112233', text: 'Hi', wait: 'yes' }],
    [{ to: '99112233', text: 'Hi', 'base-url': '' }],
  ])('refuses inputs that do not fit, and sends nothing: %j', async (inputs) => {
    const { code, stdout, outputs } = await use(inputs);
    expect({ code, stdout }).toEqual({
      code: 2,
      stdout: expect.stringMatching(/^::error title=urtuu: exit 2::\w+/),
    });
    expect(outputs).toEqual({ exit: '2', meaning: expect.stringMatching(/\w/) });
    expect(await sent()).toEqual([]);
  });

  it('ends as urtuu does, with every exit code', async () => {
    const { stdout } = await machine.run('sh', ['-c', 'urtuu help exit-codes'], machine.environment);
    const table = machine.write('table', stdout);
    for (const [code, meaning] of Object.entries(exitMeanings)) {
      installs(`case $1 in help) cat '${table}' ;; *) exit ${code} ;; esac`);
      const { outputs, ...outcome } = await use({ to: '99112233', text: 'Hi' });
      expect({ code: outcome.code, outputs }).toEqual({
        code: Number(code),
        outputs: { exit: code, meaning },
      });
    }
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
