import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();
let data: string;
let backup: string;
beforeEach(() => {
  data = join(machine.home, 'data');
  backup = join(machine.home, 'backup');
});

const serve = () => machine.serve(['--data', data]);

const owner = (...words: string[]) => machine.run(['service', ...words, '--data', data, '-o', 'json']);

it('a backup of a running service is restored once it has ended, held until it is released', async () => {
  const first = await serve();
  const send = (base_url: string, to: string) =>
    machine.run(['sms', 'send', to, 'Hi', '-o', 'json'], {
      env: { URTUU_BASE_URL: base_url, URTUU_API_KEY: first.api_key },
    });
  expect((await send(first.base_url, '99112233')).code).toBe(0);
  const made = await owner('backup', backup);
  expect({ code: made.code, row: JSON.parse(made.stdout) }).toEqual({
    code: 0,
    row: { backup, messages: 1, deliveries: 1 },
  });
  expect((await send(first.base_url, '99112234')).code).toBe(0);

  const refused = await owner('restore', backup, '--yes');
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 11, stdout: '' });
  expect(refused.stderr).toContain('another process has');
  expect((await send(first.base_url, '99112235')).code).toBe(0);
  first.child.kill('SIGKILL');
  await first.ended;

  expect(await owner('restore', backup)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  const restored = await owner('restore', backup, '--yes');
  const row = JSON.parse(restored.stdout);
  expect({ code: restored.code, row }).toMatchObject({ code: 0, row: { data } });
  expect(restored.stderr).toContain('held');
  expect(restored.stderr).toContain('API keys revoked after the backup work again');
  expect(existsSync(join(row.replaced, 'service.db'))).toBe(true);
  expect(readdirSync(data).filter((name) => name.startsWith('restoring'))).toEqual([]);

  const second = await serve();
  expect((await send(second.base_url, '99112236')).code).toBe(6);
  expect((await owner('release', '--finish-as', 'queue', '--yes')).code).toBe(0);
  expect((await send(second.base_url, '99112236')).code).toBe(0);
  const outbox = await machine.run(['sandbox', 'outbox', '--data', data, '-o', 'ndjson']);
  expect(outbox.stdout.match(/"to":"(\d+)"/g)).toEqual(['"to":"99112233"', '"to":"99112236"']);
  second.child.kill('SIGTERM');
  await second.ended;
});

it('a database names the tools that back it up, and is no success', async () => {
  const secret = join(machine.home, 'urtuu.secret');
  writeFileSync(secret, '7'.repeat(64));
  const database = 'postgres://urtuu@127.0.0.1:1/none';
  for (const [line, tool] of [
    ['backup', 'pg_dump'],
    ['restore', 'pg_restore'],
  ] as const) {
    const { code, stdout, stderr } = await machine.run(['service', line, backup, '--database', database], {
      env: { URTUU_SECRET_FILE: secret },
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(tool);
  }
});
