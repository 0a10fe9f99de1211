import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyFolder } from '../support/folders.js';
import { smsResult } from '../support/resources.js';
import { fakeService, run } from '../support/run.js';

const home = emptyFolder();

const complete = async (...words: string[]) => {
  const { code, stdout } = await run('', { argv: ['__complete', '--', ...words], home, env: {} });
  expect(code).toBe(0);
  return stdout.split('\n').slice(0, -1);
};
/** Without descriptions. */
const words = async (...given: string[]) =>
  (await complete(...given)).map((line) => line.replace(/\t.*/, ''));

describe('completion', () => {
  it('completes commands', async () => {
    expect(await words('me')).toEqual(['messages']);
    expect(await words('verify', '')).toEqual(['create', 'check', 'get']);
    expect(await words('')).not.toContain('__complete');
  });

  it('describes commands, options, topics and profiles', async () => {
    expect(await complete('me')).toEqual(['messages\tLook up messages']);
    expect(await complete('sms', 'send', '--dry')).toEqual([
      '--dry-run\tshow size and price without sending',
    ]);
    expect(await complete('help', 'exit')).toEqual(['exit-codes\texit codes, for scripts']);
  });

  it('completes columns, also after others, and never twice', async () => {
    expect(await words('sandbox', 'outbox', '--columns', 'te')).toEqual(['text']);
    expect(await words('sandbox', 'outbox', '--columns', 'text,su')).toEqual(['text,subject']);
    expect(await words('balance', '--columns', '')).toEqual(['balance']);
    expect(await words('balance', '--columns', 'balance,')).toEqual([]);
    expect(await words('messages', 'list', '--value', 'st')).toEqual(['status']);
  });

  it.each([
    [['balance', '--output=js'], ['--output=json']],
    [['balance', '--output', '=', 'js'], ['json']],
    [
      ['balance', '--output', '='],
      ['table', 'json', 'ndjson', 'csv', 'tsv'],
    ],
    [
      ['verify', 'create', '--channel', ''],
      ['sms', 'email'],
    ],
    [['completion', 'z'], ['zsh']],
    [
      ['sandbox', 'settings', 'set', 'caps'],
      ['caps.per_10_minutes', 'caps.per_24_hours'],
    ],
    [['sandbox', 'settings', 'g'], ['get']],
    [['completion', 'zsh', ''], []],
    [['verify', 'check', 'v-1', ''], []],
  ])('completes values: %j', async (given, found) => {
    expect(await words(...given)).toEqual(found);
  });

  it('puts the options of a command before those of all', async () => {
    const found = await words('sms', 'send', '--');
    expect(found.indexOf('--dry-run')).toBeLessThan(found.indexOf('--profile'));
    expect(found.at(-1)).toBe('--help');
  });

  it('completes options of the command and global ones, also after others with values', async () => {
    expect(await words('sms', 'send', '--idem')).toEqual(['--idempotency-key']);
    expect(await words('sms', 'send', '99112233', '--text-file', 'x', '--dry')).toEqual(['--dry-run']);
    expect(await words('--profile', 'sms', 'balance', '--mi')).toEqual(['--min']);
    expect(await words('balance', '-o', 'c')).toEqual(['csv']);
  });

  it('completes ids that were sent before, the newest first', async () => {
    for (const id of ['m-1', 'm-2']) {
      await run('sms send 99112233 hi', { ...fakeService(() => ({ body: smsResult({ id }) })), home });
    }
    expect(await words('messages', 'get', '')).toEqual(['m-2', 'm-1']);
    expect(await words('verify', 'check', 'm-1')).toEqual(['m-1']);
    const id = '0193a1b2-0000-7000-8000-0000000000af';
    await run('sms send 99112233 hi', { ...fakeService(() => ({ body: smsResult({ id }) })), home });
    expect(await words('messages', 'get', '0193A')).toEqual([id]);
  });

  it('completes profiles and jobs', async () => {
    const folder = join(home, '.config', 'urtuu');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), '{"profiles": {"work": {}, "home": {}}}', { mode: 0o600 });
    expect(await words('profiles', 'use', 'w')).toEqual(['work']);
    expect(await words('balance', '--profile', '')).toEqual(['work', 'home']);
    mkdirSync(join(home, '.local', 'state', 'urtuu', 'jobs', 'july'), { recursive: true });
    expect(await words('sms', 'bulk', '--job', '')).toEqual(['july']);
    expect(await words('sms', 'bulk', '--like', '')).toEqual(['july']);
    expect(await words('jobs', 'resume', '')).toEqual(['july']);
  });

  it('gives nothing for what only the shells call', async () => {
    expect(await words('__complete', '__c')).toEqual([]);
  });

  it('leaves files to the shell', async () => {
    expect(await words('sms', 'send', '--text-file', '')).toEqual([]);
  });

  it('has a script for each shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      expect((await run(`completion ${shell}`)).stdout).toContain('urtuu __complete');
    }
    expect(await run('completion tcsh')).toMatchObject({ code: 2 });
  });

  describe('in a shell', () => {
    // A urtuu that answers with the words it was asked with.
    const inShell = async (shell: string, file: string, script: (completion: string) => string) => {
      writeFileSync(
        join(home, 'urtuu'),
        `#!/bin/sh\nfor word; do printf '%s\\t%s\\n' "got[$word]" '${text}'; done\n`,
        {
          mode: 0o755,
        },
      );
      writeFileSync(join(home, file), script((await run(`completion ${shell}`)).stdout));
      const env = { PATH: `${home}:${process.env.PATH}`, HOME: home };
      const { stdout, error } = spawnSync(shell, [file], { cwd: home, env, encoding: 'utf8' });
      return error === undefined ? stdout.trim().split('\n') : null;
    };
    const asked = ['got[__complete]', 'got[--]', 'got[messages]', 'got[get]', 'got[]'];
    const text = 'a: * b';
    const isThere = (shell: string) => spawnSync(shell, ['--version']).error === undefined;

    it.runIf(isThere('bash'))('works in bash', async () => {
      const answer = await inShell('bash', 'script', (completion) =>
        [
          completion,
          'COMP_WORDS=(urtuu messages get ""); COMP_CWORD=3; _urtuu',
          `printf '%s\\n' "\${COMPREPLY[@]}"`,
          'COMP_TYPE=63; _urtuu',
          `printf '%s\\n' "\${COMPREPLY[@]}"`,
        ].join('\n'),
      );
      const listed = asked.map((each) => `${each.padEnd(asked[0]?.length ?? 0)}  ${text}`);
      expect(answer).toEqual([...asked, ...listed]);
    });

    it.runIf(isThere('zsh'))('works in zsh', async () => {
      const answer = await inShell('zsh', 'script', (completion) =>
        [
          `compdef() { :; }; _describe() { printf "%s\\n" "\${(@P)3}"; }; _files() { echo files; }`,
          completion,
          'words=(urtuu messages get ""); CURRENT=4; _urtuu',
        ].join('\n'),
      );
      expect(answer).toEqual(asked.map((each) => `${each}:${text}`));
    });

    it.runIf(isThere('zsh'))('starts the completion of zsh where nobody has', async () => {
      const answer = await inShell('zsh', 'script', (completion) =>
        [completion, 'print -r -- $_comps[urtuu]'].join('\n'),
      );
      expect(answer).toEqual(['_urtuu']);
    });

    it.runIf(isThere('fish'))('works in fish', async () => {
      const answer = await inShell('fish', 'script', (completion) =>
        [completion, 'complete -C "urtuu messages get "'].join('\n'),
      );
      expect(answer?.sort()).toEqual(asked.map((each) => `${each}\t${text}`).sort());
    });
  });
});
