import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Carrier } from '../../src/service/carriers/carrier.js';
import { Machine, outcomeOf } from '../support/binary.js';
import { Cores, caller, ledgerDifference, replayOf } from '../support/cores.js';
import { newDatabase, query } from '../support/postgres.js';

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
    if (code === 0) break;
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
