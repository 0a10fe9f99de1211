import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Outcome, outcomeOf } from '../../support/binary.js';
import { fileFolder } from '../../support/folders.js';

const folder = fileFolder();
const lines = 250;
beforeAll(async () => {
  const input = resolve(import.meta.dirname, '../../../src/cli/terminal/descriptor.ts');
  await build({ input, platform: 'node', output: { file: join(folder, 'descriptor.cjs'), format: 'cjs' } });
  writeFileSync(
    join(folder, 'writer.cjs'),
    `const { outputOf } = require('./descriptor.cjs');
    const output = outputOf(1, () => process.stdout);
    output.on('error', (error) => console.error('heard', error.code));
    // Four bytes a character: a part that was written may end inside of one.
    const mark = '\u{1F4EE}'.repeat(1_000);
    let left = ${lines};
    const next = (error) => {
      if (left-- > 0 && !error) return output.write(mark + '\\n', next);
      console.error('done', error?.code);
      // A stream tells its listeners after the callback of the write.
      setImmediate(() => process.exit());
    };
    next();`,
  );
});

const shell = (line: string): Promise<Outcome> =>
  outcomeOf(spawn('bash', ['-c', line, 'bash', process.execPath, join(folder, 'writer.cjs')]));
const whole = `${'\u{1F4EE}'.repeat(1_000)}\n`.repeat(lines);

describe('standard output', () => {
  it('takes everything through a pipe, however slow its reader', async () => {
    const { stdout, stderr } = await shell('"$1" "$2" | (sleep 0.3; cat)');
    expect(stderr).toBe('done undefined\n');
    expect(stdout === whole).toBe(true);
  });

  it('takes everything through a socket', async () => {
    const { stdout, stderr } = await outcomeOf(spawn(process.execPath, [join(folder, 'writer.cjs')]));
    expect(stderr).toBe('done undefined\n');
    expect(stdout === whole).toBe(true);
  });

  it('takes everything into a file', async () => {
    const file = join(folder, 'output');
    expect((await shell(`"$1" "$2" > '${file}'`)).stderr).toBe('done undefined\n');
    expect(readFileSync(file, 'utf8') === whole).toBe(true);
  });

  it.runIf(process.platform === 'linux').each([
    ['a pipe', '| cat', ''],
    ['/dev/null', '> /dev/null', ''],
    ['another device', '> /dev/zero', 'opened\n'],
  ])('takes a short text without a stream only where it can: %s', async (_, into, opened) => {
    const open = '() => (console.error("opened"), process.stdout)';
    const program = `require(process.argv[1]).outputOf(1, ${open}).write("short")`;
    const { code, stderr } = await shell(`"$1" -e '${program}' '${join(folder, 'descriptor.cjs')}' ${into}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: opened });
  });

  it('lets the program go on while its reader is slow', async () => {
    const ticked = join(folder, 'ticked');
    const tick = 'console.error("tick"); ticks += 1; if (ticks === 3) fs.writeFileSync(process.argv[2], "")';
    const program = `require(process.argv[1]); let ticks = 0; setInterval(() => { ${tick} }, 50)`;
    const slowly = `for turn in $(seq 400); do [ -e '${ticked}' ] && break; sleep 0.05; done; cat`;
    const { stdout, stderr } = await shell(`"$1" -e '${program}' "$2" '${ticked}' | (${slowly})`);
    expect(stderr).toMatch(/(?:tick\n){3,}done undefined\n$/);
    expect(stdout === whole).toBe(true);
  });

  it('waits where another process has made the pipe non-blocking, and filled it', async () => {
    // A stream of Node.js sets the flag, for everybody who holds the same end.
    const filler = 'y'.repeat(65_536);
    const other = `"$1" -e 'process.stdout.write("y".repeat(65536)); setTimeout(() => {}, 1000)' & sleep 0.3;`;
    const { stdout, stderr } = await shell(`(${other} "$1" "$2"; wait) | (sleep 0.6; cat)`);
    expect(stderr).toBe('done undefined\n');
    expect(stdout === filler + whole).toBe(true);
  });

  it('tells of a reader that left', async () => {
    const { stderr } = await shell('"$1" "$2" | head -c 10 > /dev/null');
    expect(new Set(stderr.trimEnd().split('\n'))).toEqual(new Set(['heard EPIPE', 'done EPIPE']));
  });
});
