import { spawn } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outcomeOf, root } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';
import { ProjectServer } from '../support/project-server.js';
import { testKey } from '../support/run.js';
import { saying } from '../support/saying.js';
import { recipients } from '../torture/people.js';

let service: ProjectServer;
const machine = emptyMachine();
beforeAll(async () => {
  service = await ProjectServer.start();
});
afterAll(async () => {
  await service.close();
});

const job = ['sms', 'bulk', 'list.csv', '--text', 'Hi {phone}', '--yes'];

/** The real command where no file may grow beyond some KiB. */
function withoutRoom(words: string[], room = 0) {
  const command = [process.execPath, join(root, 'bin/urtuu.js'), ...words, '--base-url', service.baseUrl];
  const child = spawn('bash', ['-c', `ulimit -f ${room}; exec "$@"`, 'bash', ...command], {
    cwd: machine.home,
    env: machine.environment({ URTUU_API_KEY: testKey, NODE_DISABLE_COMPILE_CACHE: '1' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return outcomeOf(child);
}

describe.skipIf(process.platform === 'win32')('a half-done job on a full disk', () => {
  it('sends nothing with the same command, which goes on once there is room', async () => {
    service.reset();
    service.project.balance = 25;
    const numbers = recipients(0, 5);
    writeFileSync(join(machine.home, 'list.csv'), `phone\n${numbers.join('\n')}\n`);
    const words = [...job, '--allow-partial'];
    const urtuu = () =>
      machine.run([...words, '--base-url', service.baseUrl], {
        env: { URTUU_API_KEY: testKey },
        cwd: machine.home,
      });
    expect(await urtuu()).toMatchObject({ code: 7 });
    service.project.balance = 1_000;
    expect(await withoutRoom(words)).toMatchObject(
      saying(13, /cannot save the job \(E\w+\); nothing was sent this time\n/),
    );
    expect(service.project.received().size).toBe(2);
    expect(await urtuu()).toMatchObject({ code: 0 });
    expect([...service.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });
});

describe.skipIf(process.platform === 'win32')('a job', () => {
  it('whose report finds no room is finished all the same, and reports later', async () => {
    service.reset();
    const numbers = recipients(0, 5);
    const wide = 'x'.repeat(1_000);
    writeFileSync(
      join(machine.home, 'list.csv'),
      `phone,n\n${numbers.map((to) => `${to},${wide}\n`).join('')}`,
    );
    expect(await withoutRoom([...job, '--job', 'july', '--wait', '--report', 'report.csv'], 5)).toMatchObject(
      saying(13, /^warning: cannot write \S*report\.csv: /m),
    );
    expect(readdirSync(machine.home).filter((name) => name.includes('report'))).toEqual([]);
    expect([...service.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
    const later = ['jobs', 'report', 'july', '--report', 'report.csv', '--base-url', service.baseUrl];
    const options = { env: { URTUU_API_KEY: testKey }, cwd: machine.home };
    expect(await machine.run(later, options)).toMatchObject({ code: 0 });
    const [header = '', ...rows] = readFileSync(join(machine.home, 'report.csv'), 'utf8').trim().split('\n');
    expect(header).toMatch(/^phone,n,message_id,/);
    expect(rows.map((row) => row.split(',')[4])).toEqual(Array(5).fill('sent'));
  });

  it.each(['000', '077'])('leaves nothing for others to read under umask %s', async (umask) => {
    service.reset();
    writeFileSync(join(machine.home, 'list.csv'), `phone\n${recipients(0, 2).join('\n')}\nnobody\n`);
    const given = [
      '--job',
      'july',
      '--skip-invalid',
      '--wait',
      '--report',
      'report.csv',
      '--base-url',
      service.baseUrl,
    ];
    const command = [process.execPath, join(root, 'bin/urtuu.js'), ...job, ...given];
    const child = spawn('bash', ['-c', `umask ${umask}; exec "$@"`, 'bash', ...command], {
      cwd: machine.home,
      env: machine.environment({ URTUU_API_KEY: testKey }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(await outcomeOf(child)).toMatchObject({ code: 3 });
    const made = readdirSync(machine.home, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name !== 'list.csv',
    );
    const open = made.filter((name) => (lstatSync(join(machine.home, name)).mode & 0o077) !== 0);
    expect(made).toContain('report.csv');
    expect(open.filter((name) => !name.includes('lock.'))).toEqual([]);
  });
});
