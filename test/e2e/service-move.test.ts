import { spawn } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Carrier } from '../../src/service/carriers/carrier.js';
import { Machine, outcomeOf, root } from '../support/binary.js';
import { Cores, caller, ledgerDifference, replayOf } from '../support/cores.js';
import { startProxy } from '../support/postgres/proxy.js';
import { newDatabase, query } from '../support/postgres.js';
import { fill, smallDisk, whyNoDisk } from '../support/small-disk.js';

const cores = new Cores();
let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(async () => {
  await cores.closeAll();
  machine.remove();
});

const closed = (carriers: readonly Carrier[]) =>
  carriers.map((one): Carrier => ({ ...one, capacity: () => 0 }));
const batches = 9;
const each = 1_000;

it('a move that is killed again and again goes on, and every key is answered as before', async () => {
  const made = await cores.open({ directory: join(machine.home, 'made') }, { carriers: closed });
  const to = Array.from({ length: each }, (_, index) => String(99_200_000 + index));
  const answers = new Map<string, unknown>();
  for (let batch = 0; batch < batches; batch += 1) {
    const params = { to, text: `hi ${batch}` };
    await made.operations.sendSmsBulk({ caller, params, idempotencyKey: `batch ${batch}` });
    answers.set(`batch ${batch}`, await replayOf(made, `batch ${batch}`));
  }
  await made.close();
  const data = join(machine.home, 'data');
  cpSync(join(machine.home, 'made'), data, { recursive: true });
  const url = await newDatabase();
  const secret = join(machine.home, 'secret');
  const line = ['service', 'move', '--data', data, '--database', url, '--secret-file', secret, '--yes'];

  let kills = 0;
  for (;;) {
    const child = machine.start(line);
    const ended = outcomeOf(child);
    const timer = setTimeout(() => child.kill('SIGKILL'), 200 + 120 * kills);
    const { code, stderr } = await ended;
    clearTimeout(timer);
    // A kill may come after its last word.
    if (code === 0 || stderr.startsWith('Give every instance URTUU_SECRET_FILE=')) break;
    expect(stderr).toBe('');
    kills += 1;
    expect(kills).toBeLessThan(60);
  }
  expect(kills).toBeGreaterThan(1);

  expect(await machine.run(['serve', '--port', '0', '--data', data])).toMatchObject({
    code: 13,
    stderr: expect.stringContaining('was moved to'),
  });
  const moved = await cores.open({ database: url, secret: readFileSync(secret) }, { carriers: closed });
  for (const [key, answer] of answers) expect(await replayOf(moved, key)).toEqual(answer);
  expect(await ledgerDifference(moved)).toBe(0);
  expect(
    await query(url, 'SELECT count(*)::int AS count, count(DISTINCT message)::int AS messages FROM queue'),
  ).toEqual([{ count: batches * each, messages: batches * each }]);
}, 120_000);

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
