import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { outcomeOf } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();
let pipe = '';
beforeEach(() => {
  pipe = join(machine.home, 'pipe');
  execFileSync('mkfifo', [pipe]);
  writeFileSync(join(machine.home, 'list.csv'), 'phone\n99112233\n');
});

const env = { URTUU_SANDBOX: '1' };
const start = (args: string[]) => machine.start(args, { env, cwd: machine.home });

/** Resolves when standard error holds these words. */
async function says(child: ReturnType<typeof start>, words: string): Promise<void> {
  let text = '';
  for await (const chunk of child.stderr ?? []) {
    text += chunk;
    if (text.includes(words)) return;
  }
  throw new Error(`it never said '${words}': ${text}`);
}

describe.skipIf(process.platform === 'win32')('a named pipe', () => {
  const bulk = ['sms', 'bulk', 'pipe', '--text', 'hi', '--yes'];

  it('that nobody writes to is named after a second, and Ctrl-C ends the waiting', async () => {
    const child = start(bulk);
    const exited = once(child, 'exit');
    await says(child, 'waiting for a writer of pipe');
    child.kill('SIGINT');
    expect(await exited).toEqual([null, 'SIGINT']);
  });

  it('is read once somebody writes to it', async () => {
    const outcome = outcomeOf(start([...bulk, '--json']));
    createWriteStream(pipe).end('phone\n99112233\n');
    expect(await outcome).toMatchObject({ code: 0, stdout: expect.stringContaining('"accepted": 1') });
  });

  it('takes a report, whose reader may come late; Ctrl-C ends the waiting for one', async () => {
    const args = ['sms', 'bulk', 'list.csv', '--text', 'hi', '--yes', '--job', 'j'];
    expect((await outcomeOf(start(args))).code).toBe(0);
    const report = ['jobs', 'report', 'j', '--report', 'pipe'];
    const child = start(report);
    const exited = once(child, 'exit');
    await says(child, 'waiting for a reader');
    let text = '';
    for await (const chunk of createReadStream(pipe)) text += chunk;
    expect(text).toMatch(/^phone,message_id/);
    expect(await exited).toEqual([0, null]);
    const stopped = start(report);
    const died = once(stopped, 'exit');
    await says(stopped, 'waiting for a reader');
    stopped.kill('SIGINT');
    expect(await died).toEqual([null, 'SIGINT']);
  });
});
