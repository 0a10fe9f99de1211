import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { outcomeOf, root } from '../support/binary.js';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const section = (title: string) => readme.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
const fenced = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) => code);

const standIn = 'https://api.example.com/v1';
let folder = '';
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
  folder = mkdtempSync(join(tmpdir(), 'urtuu-readme-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/urtuu'));
  mkdirSync(join(folder, 'bin'));
  const script = (name: string, line: string) => {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
  };
  script('urtuu', `exec '${process.execPath}' '${join(root, 'bin/urtuu.js')}' "$@"`);
  script('npx', 'exec "$@"');
  writeFileSync(join(folder, 'customers.csv'), 'phone\n99112233\n88112233\n');
  writeFileSync(join(folder, 'today.csv'), 'phone\n99112233\n');
  writeFileSync(join(folder, 'release.txt'), 'Released');
  writeFileSync(join(folder, 'text.txt'), 'Good morning');
  writeFileSync(join(folder, 'urtuu.key'), `${sandbox.key}\n`, { mode: 0o600 });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Nothing but what the example itself says, with the sandbox where it names the service. */
const settled = (text: string) =>
  text.replaceAll(standIn, sandbox.url).replaceAll('/srv/', `${folder}/`).replaceAll('/etc/', `${folder}/`);

function start(command: string, args: string[], env: Record<string, string> = {}) {
  const base = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder };
  return outcomeOf(spawn(command, args, { cwd: folder, env: { ...base, ...env } }));
}
const shell = (line: string, env: Record<string, string>) => start('/bin/sh', ['-c', settled(line)], env);

interface Step {
  line: string;
  env: Record<string, string>;
}

/** The commands of a workflow, each with the variables of its own block. */
function stepsOf(yaml: string): Step[] {
  const lines = yaml.split('\n');
  const variable = (line: string) => /^\s+([A-Z_]+): (\S.*)$/.exec(line);
  const envAfter = (from: number) => {
    const env: Record<string, string> = {};
    for (const line of lines.slice(from)) {
      if (/^- run:/.test(line)) break;
      const [, name = '', value = ''] = variable(line) ?? [];
      if (name !== '') env[name] = value;
    }
    return env;
  };
  return lines.flatMap((line, index) => {
    const [, command] = /^\s*- (?:run: )?(npx urtuu .*)$/.exec(line) ?? [];
    return command === undefined ? [] : [{ line: command, env: envAfter(index + 1) }];
  });
}

const known = (env: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value.includes('URTUU_API_KEY') ? sandbox.key : value.includes('ON_CALL') ? '99112233' : settled(value),
    ]),
  );

describe('the README', () => {
  const workflows = fenced(section('Scripts, cron and pipelines'), 'yaml');
  const steps = workflows.flatMap(stepsOf);
  const jobs = { GITHUB_RUN_ID: '17', GITHUB_SHA: 'abc', CI_PIPELINE_ID: '17b', CI: 'true' };

  it('has commands for pipelines', () => expect(steps).toHaveLength(3));

  it.each(steps)('runs in a pipeline as it stands, and names its service: $line', async ({ line, env }) => {
    expect(env.URTUU_BASE_URL).toBe(standIn);
    const masked = { URTUU_API_KEY: sandbox.key };
    const { code, stderr } = await shell(line, { ...jobs, ...masked, ...known(env) });
    expect({ code, stderr }).toEqual({ code: 0, stderr });
    expect((await sandbox.outbox()).length).toBeGreaterThan(0);
  });

  it('runs from cron as it stands, and names its service', async () => {
    const crontab = section('Scripts, cron and pipelines')
      .split('\n')
      .map((line) => line.trim());
    const at = crontab.findIndex((line) => line.startsWith('0 9 * * * '));
    const env: Record<string, string> = {};
    for (let above = at - 1; /^[A-Z_]+=/.test(crontab[above] ?? ''); above -= 1) {
      const [name = '', value = ''] = (crontab[above] ?? '').split('=');
      env[name] = settled(value);
    }
    expect(env).toEqual({ URTUU_BASE_URL: sandbox.url });
    const line = (crontab[at] ?? '').replace('0 9 * * * ', '').replaceAll('\\%', '%');
    expect(await shell(line, env)).toMatchObject({ code: 0 });
    expect((await shell(line, env)).code).toBe(11);
  });

  const scripts = fenced(readme, 'js');
  it('has programs', () => expect(scripts).toHaveLength(2));
  it.each(scripts)('has programs that run as they stand: %#', async (script) => {
    const file = join(folder, `${scripts.indexOf(script)}.mjs`);
    writeFileSync(file, settled(script));
    const { code, stdout, stderr } = await start(process.execPath, [file], { URTUU_API_KEY: sandbox.key });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toBe('');
  });
});
