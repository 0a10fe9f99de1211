import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openCore } from '../../src/service/core.js';
import { Cores, caller, requestsTo } from '../support/cores.js';
import { installed } from '../support/postgres/binaries.js';
import { type Cluster, makeCluster } from '../support/postgres/cluster.js';
import { query } from '../support/postgres.js';

const secret = new Uint8Array(32).fill(7);
const folder = mkdtempSync(join(tmpdir(), 'urtuu-dump-'));
const dump = join(folder, 'one.dump');
let bin: string;
let cluster: Cluster;
const cores = new Cores();
const tool = (name: string, ...args: string[]) =>
  execFileSync(join(bin, name), [...args], { stdio: ['ignore', 'pipe', 'pipe'] });

beforeAll(async () => {
  const found = installed();
  if (found === null) throw new Error('pg_dump is missing: apt-get install postgresql');
  bin = found;
  cluster = await makeCluster(folder, { bin, env: process.env });
});
afterEach(() => cores.closeAll());
afterAll(async () => {
  await cluster.stop('immediate').catch(() => {});
  rmSync(folder, { recursive: true, force: true });
});

describe('a dump of pg_dump that pg_restore loads', () => {
  it.each([
    ['into another database', 'one', (target: string) => ['-d', target]],
    [
      'into the same one, beside a running instance',
      'three',
      (target: string) => ['--clean', '--if-exists', '-d', target],
    ],
    ['for another role', 'four', (target: string) => ['--no-owner', '--role=other', '-d', target]],
  ])('%s is held', async (_, name, restored) => {
    await query(`${cluster.url}/postgres`, `CREATE DATABASE ${name}`);
    const database = `${cluster.url}/${name}`;
    const before = await openCore({ database, secret }, { carriers: () => [] });
    const email = { to: 'bat@example.mn', subject: 's', text: 't' };
    await before.operations.sendEmail({ caller, params: email, idempotencyKey: 'k' });
    tool('pg_dump', '-Fc', '-f', dump, '-d', database);
    let target = database;
    if (name !== 'three') {
      await before.close();
      const copy = `copy_of_${name}`;
      target = `${cluster.url}/${copy}`;
      await query(`${cluster.url}/postgres`, `CREATE DATABASE ${copy}`);
      if (name === 'four') {
        await query(target, `CREATE ROLE other LOGIN; GRANT CREATE ON DATABASE ${copy} TO other`);
        tool('pg_restore', ...restored(target), dump);
        target = target.replace('postgres@', 'other@');
      } else tool('pg_restore', ...restored(target), dump);
    } else {
      tool('pg_restore', ...restored(target), dump);
      const reason = await before.store.held().catch(() => before.store.held());
      expect(reason).toBe('restored');
      await before.close();
    }
    const core = await cores.open({ database: target, secret });
    expect(await core.administration.held()).toEqual({ reason: 'restored', messages: 1, submitting: 0 });
    const { send } = requestsTo(() => core);
    await expect(send('99112233', 'hi')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await core.administration.release('queue')).toBe(true);
    await send('99112233', 'hi');
    await core.administration.idle();
    expect(await core.store.countUnfinished()).toEqual({ messages: 0, submitting: 0 });
  });
});
