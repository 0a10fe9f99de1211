import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Machine, outcomeOf, root } from '../support/binary.js';
import { ProjectServer } from '../support/project-server.js';
import { testKey } from '../support/run.js';
import { recipients } from '../torture/people.js';

let service: ProjectServer;
let machine: Machine;
beforeAll(async () => {
  service = await ProjectServer.start();
});
afterAll(async () => {
  await service.close();
});
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

const job = ['sms', 'bulk', 'list.csv', '--text', 'Hi {phone}', '--yes'];

/** The real command where no file may grow. */
function withoutRoom(words: string[]) {
  const command = [process.execPath, join(root, 'bin/urtuu.js'), ...words, '--base-url', service.baseUrl];
  const child = spawn('bash', ['-c', 'ulimit -f 0; exec "$@"', 'bash', ...command], {
    cwd: machine.home,
    env: machine.environment({ URTUU_API_KEY: testKey, NODE_DISABLE_COMPILE_CACHE: '1' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return outcomeOf(child);
}

describe.skipIf(process.platform === 'win32')('a half-done job on a full disk', () => {
  it.each([
    ['by its name', ['--job', 'july'], 'july'],
    ['by its file', [], 'sms-[0-9a-f]{20}'],
  ])('says at the same command what is certain, and what goes on: found %s', async (_, naming, id) => {
    service.reset();
    service.project.balance = 25;
    const numbers = recipients(0, 5);
    writeFileSync(join(machine.home, 'list.csv'), `phone\n${numbers.join('\n')}\n`);
    const words = [...job, ...naming, '--allow-partial'];
    const env = { URTUU_API_KEY: testKey };
    const to = ['--base-url', service.baseUrl];
    expect(await machine.run([...words, ...to], { env, cwd: machine.home })).toMatchObject({ code: 7 });
    service.project.balance = 1_000;
    const { code, stderr } = await withoutRoom(words);
    expect(code).toBe(13);
    expect(stderr).toMatch(/nothing was sent now; earlier, \S+ had 2 accepted, 0 in doubt, 3 not sent yet\n/);
    const command = new RegExp(
      `Make room, then resume with: XDG_STATE_HOME=\\S+ XDG_CONFIG_HOME=\\S+ urtuu (jobs resume ${id} --base-url .*)\n$`,
    );
    expect(stderr).toMatch(command);
    const [, goOn = ''] = command.exec(stderr) ?? [];
    expect(await machine.run(goOn.split(' '), { env })).toMatchObject({ code: 0 });
    expect([...service.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });
});
