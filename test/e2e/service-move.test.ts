import { spawn } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { outcomeOf, root } from '../support/binary.js';
import { Cores, caller, ledgerDifference, replayOf } from '../support/cores.js';
import { emptyMachine } from '../support/machines.js';
import { startProxy } from '../support/postgres/proxy.js';
import { newDatabase } from '../support/postgres.js';
import { fill, smallDisk, whyNoDisk } from '../support/small-disk.js';

const cores = new Cores();
const machine = emptyMachine();
afterEach(() => cores.closeAll());

it.skipIf(whyNoDisk() !== null).each([
  ['before it is marked', 'CREATE TABLE', 0],
  ['while the database is filled', 'json_populate_recordset(NULL::projects', 13],
])(
  'a move on a disk that is full %s ends with 13, and goes on once there is room',
  async (_, statement, folderCode) => {
    const made = await cores.open({ directory: join(machine.home, 'made') });
    await made.operations.sendSms({
      caller,
      params: { to: '99112233', text: 'hi' },
      idempotencyKey: 'before',
    });
    const answer = await replayOf(made, 'before');
    await made.close();
    const folder = join(machine.home, 'disk');
    const disk = await smallDisk(folder);
    const url = await newDatabase();
    const proxy = await startProxy(url, false);
    const secret = join(machine.home, 'secret');
    const command = (...words: string[]) =>
      outcomeOf(
        spawn('nsenter', [...disk.within, process.execPath, join(root, 'bin/urtuu.js'), ...words], {
          env: machine.environment({ URTUU_SECRET_FILE: join(machine.home, 'made/secret') }),
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      );
    const data = join(folder, 'data');
    const move = () =>
      command(
        ...['service', 'move', '--data', data, '--database', proxy.url],
        ...['--secret-file', secret, '--yes'],
      );
    try {
      cpSync(join(machine.home, 'made'), join(disk.path, 'data'), { recursive: true });
      proxy.cuts = (sent) => {
        if (sent.includes(statement)) fill(disk.path, 0);
        return null;
      };
      const first = await move();
      expect(first).toMatchObject({ code: 13, stderr: expect.stringContaining('Make room on the disk.') });
      proxy.cuts = null;
      rmSync(join(disk.path, 'filler'));
      expect((await command('service', 'ledger', '--database', url)).code).not.toBe(0);
      expect((await command('service', 'ledger', '--data', data)).code).toBe(folderCode);
      expect(await move()).toMatchObject({ code: 0 });
    } finally {
      proxy.close();
      await disk.end();
    }
    const moved = await cores.open({ database: url, secret: readFileSync(secret) });
    expect(await replayOf(moved, 'before')).toEqual(answer);
    expect(await ledgerDifference(moved)).toBe(0);
  },
);
