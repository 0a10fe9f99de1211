import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandPages } from '../../../scripts/reference/commands.js';
import { type Outcome, outcomeOf, root } from '../../support/binary.js';
import { testFolder } from '../../support/folders.js';
import { emptyMachine } from '../../support/machines.js';
import { pty, Terminal } from '../../terminal/pseudoterminal.js';

const commands = (await commandPages()).map(({ name }) => name.split(' ').slice(1));
const machine = emptyMachine();
const binary = join(root, 'bin/urtuu.js');
const cache = () => join(machine.home, '.cache/urtuu');
const names = () => (existsSync(cache()) ? readdirSync(cache()) : []);
const uncached = { NODE_DISABLE_COMPILE_CACHE: '1' };

/** Everything that a page could depend on, and must not. */
const elsewhere = {
  COLUMNS: '40',
  LINES: '10',
  NO_COLOR: '1',
  FORCE_COLOR: '3',
  TERM: 'dumb',
  LANG: 'mn_MN.UTF-8',
  LC_ALL: 'mn_MN.UTF-8',
  TZ: 'Asia/Ulaanbaatar',
  CI: 'true',
  URTUU_SANDBOX: '1',
  URTUU_PROFILE: 'missing',
  URTUU_BASE_URL: 'nonsense',
  URTUU_DATABASE: 'nonsense',
  HOME: '/nonexistent',
};

function page(words: readonly string[], env: NodeJS.ProcessEnv = {}, program = binary): string {
  const all = { ...machine.environment(env) };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { env: all });
  expect({ status, stderr: `${stderr}` }).toEqual({ status: 0, stderr: '' });
  return `${stdout}`;
}

/** Replaces the kept page: only where it is read does anybody see the difference. */
function mark(text: string): void {
  for (const name of names().filter((each) => each.endsWith('.page'))) {
    const file = join(cache(), name);
    const content = readFileSync(file);
    const head = content.subarray(0, content.indexOf('\n') + 1);
    writeFileSync(file, `${head}${text}`.repeat(2));
  }
}

const shell = (line: string): Promise<Outcome> =>
  outcomeOf(
    spawn('bash', ['-c', line, 'bash', process.execPath, binary], {
      env: machine.environment(),
      cwd: machine.home,
    }),
  );

describe('a page of help', () => {
  it.each(
    [[], ...commands, ['sms'], ['service', 'settings']].map((words) => [words.join(' '), words] as const),
  )('is the same from the cache as made anew, in any environment: `urtuu %s --help`', (_, words) => {
    const asked = [...words, '--help'];
    const made = page(asked, uncached);
    expect(page(asked)).toBe(made);
    expect(names()).toEqual([`${asked.join('.')}.page`]);
    expect(page(asked)).toBe(made);
    expect(page(asked, { ...elsewhere, ...uncached })).toBe(made);
  });

  describe('that is kept', () => {
    beforeEach(() => {
      page(['sms', 'send', '--help']);
      mark('kept\n');
    });

    it('is printed to a pipe, a socket and a file', async () => {
      expect(page(['sms', 'send', '--help'])).toBe('kept\n');
      expect((await shell('"$1" "$2" sms send --help')).stdout).toBe('kept\n');
      const { stdout } = await shell(
        '"$1" "$2" sms send --help > page; cat page; "$1" "$2" sms send --help | cat',
      );
      expect(stdout).toBe('kept\nkept\n');
    });

    it.runIf(pty !== null)('is not printed to a terminal', async () => {
      const terminal = new Terminal(machine, ['sms', 'send', '--help'], { columns: 50 });
      const { code, screen } = await terminal.ended;
      expect({ code, kept: screen.includes('kept') }).toEqual({ code: 0, kept: false });
      expect(screen).toContain('Usage: urtuu sms send');
    });

    it('is not that of another word, of an option beside it, or of a build after it', () => {
      for (const words of [
        ['sms', '--help'],
        ['sms', 'send', '--json', '--help'],
        ['help', 'sms', 'send'],
      ])
        expect(page(words)).not.toBe('kept\n');
      const copy = testFolder();
      for (const part of ['bin', 'dist', 'package.json'])
        cpSync(join(root, part), join(copy, part), { recursive: true });
      const program = join(copy, 'bin/urtuu.js');
      expect(page(['sms', 'send', '--help'], {}, program)).toBe('kept\n');
      const start = join(copy, 'dist/cli/start.cjs');
      writeFileSync(start, readFileSync(start, 'utf8').replace(/\b[0-9a-f]{64}\b/, '0'.repeat(64)));
      const made = page(['sms', 'send', '--help'], uncached);
      expect(page(['sms', 'send', '--help'], {}, program)).toBe(made);
      expect(page(['sms', 'send', '--help'])).toBe(made);
    });

    it('ends quietly where nobody reads it, and says where it cannot be written', async () => {
      expect(await shell('("$1" "$2" sms send --help; echo $? >&2) | exec true')).toMatchObject({
        stderr: '0\n',
      });
      const full = await shell('"$1" "$2" sms send --help > /dev/full');
      expect(full).toMatchObject({ code: 13, stderr: expect.stringMatching(/could not be written: ENOSPC/) });
    });

    it('waits where another process has made the pipe non-blocking, and filled it', async () => {
      const filler = `"$1" -e 'process.stdout.write("y".repeat(65536)); setTimeout(() => {}, 1000)' & sleep 0.3;`;
      const { stdout, stderr } = await shell(
        `(${filler} "$1" "$2" sms send --help; wait) | (sleep 0.6; cat)`,
      );
      expect({ length: stdout.length, end: stdout.slice(-5), stderr }).toEqual({
        length: 65_541,
        end: 'kept\n',
        stderr: '',
      });
    });
  });

  it('is nowhere kept where the cache is disabled, or belongs to others', () => {
    page(['sms', 'send', '--help'], uncached);
    expect(names()).toEqual([]);
    mkdirSync(cache(), { recursive: true });
    chmodSync(cache(), 0o777);
    page(['sms', 'send', '--help']);
    expect(names()).toEqual([]);
  });
});
