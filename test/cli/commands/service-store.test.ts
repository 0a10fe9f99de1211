import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCore } from '../../../src/service/core.js';
import { createService, type Service } from '../../../src/service/index.js';
import { fileFolder } from '../../support/folders.js';
import { newDatabase, query } from '../../support/postgres.js';
import { run } from '../../support/run.js';
import { saying } from '../../support/saying.js';

const secret = new Uint8Array(32).fill(7);
const home = fileFolder();
const secretFile = join(home, 'urtuu.secret');
writeFileSync(secretFile, secret);

const here = (line: string, env = {}) =>
  run(line, { home, cwd: home, env: { URTUU_SECRET_FILE: secretFile, ...env } });

const lookingLines = ['keys list', 'service keys list', 'service settings get', 'service keys create'];

it('service credit whose ledger cannot be read afterwards has taken the credits: 0, and no doubt', async () => {
  const data = join(home, 'taken');
  mkdirSync(data);
  for (const name of ['service.db', 'installation.json', 'secret', 'operator.db']) {
    writeFileSync(join(data, name), '');
  }
  const administration = {
    credit: async () => 0,
    // biome-ignore lint/correctness/useYield: it fails at once
    async *newestLedger() {
      throw Object.assign(new Error('The database cannot be used now'), { code: 'unavailable', status: 503 });
    },
  };
  const { code, stdout, stderr } = await run(`service credit -5 --yes --data ${data} --value balance`, {
    home,
    cwd: home,
    env: {},
    openAdministration: async () => ({ administration, close: async () => {} }) as never,
  });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '0\n', stderr: '' });
});

describe('the commands of the owner, where there is no service', () => {
  it.each(lookingLines.slice(0, 3))('urtuu %s ends with 12 and makes no folder', async (line) => {
    const { code, stdout, stderr } = await here(line);
    expect({ code, stdout }).toEqual({ code: 12, stdout: '' });
    expect(stderr).toContain('urtuu serve');
    expect(existsSync(join(home, '.local'))).toBe(false);
  });

  it.each(['service settings get', 'sandbox outbox', 'serve --port 0'])(
    'urtuu %s refuses an empty name, as of an unset variable',
    async (line) => {
      expect(await here(`${line} --data ''`)).toMatchObject(saying(2, 'urtuu: --data: the value is empty\n'));
    },
  );

  it('the hint names a folder as a shell takes it', async () => {
    const { stderr } = await here("service settings get --data 'no where'");
    expect(stderr).toMatch(/: urtuu serve --data '\/\S*\/no where'\n/);
  });

  it.each([...lookingLines, 'sandbox outbox', 'sandbox credit 5'])(
    'urtuu %s --database ends with 12 and makes no schema',
    async (line) => {
      const database = await newDatabase();
      expect(await here(`${line} --database ${database}`)).toMatchObject(
        saying(12, 'urtuu serve --database'),
      );
      expect(
        await query(database, "SELECT 1 FROM pg_tables WHERE schemaname IN ('public', 'urtuu')"),
      ).toEqual([]);
    },
  );

  it.each(['keys list', 'service verify'])('urtuu %s says that a database does not answer', async (line) => {
    const url = 'postgres://urtuu@127.0.0.1:9/urtuu';
    expect(await here(`${line} --database ${url}`)).toMatchObject(saying(13, `cannot use ${url}: `));
  });

  it('a database that another secret belongs to is refused', async () => {
    const database = await newDatabase();
    await (await createService({ database, secret: new Uint8Array(32).fill(8) })).close();
    expect(await here(`service keys list --database ${database}`)).toMatchObject(
      saying(13, 'another secret'),
    );
  });
});

describe.each(['a folder', 'a database'])('the commands of the owner beside a service on %s', (place) => {
  let service: Service;
  let flags: string;
  beforeAll(async () => {
    const directory = join(home, 'data');
    const database = place === 'a folder' ? null : await newDatabase();
    flags = database === null ? `--data ${directory}` : `--database ${database}`;
    service = await createService(database === null ? { directory } : { database, secret });
  });
  afterAll(() => service.close());

  it('change what it does from the next request on', async () => {
    expect(await service.administration.createFirstKey()).not.toBeNull();
    const { code, stdout } = await here(`service keys create --label cron ${flags} --json`);
    expect(code).toBe(0);
    const authorization = `Bearer ${JSON.parse(stdout).secret}`;
    const balance = () => service.fetch('http://x/v1/balance', { headers: { authorization } });
    expect((await balance()).status).toBe(200);
    await here(`service keys revoke ${JSON.parse(stdout).id} --yes ${flags}`);
    expect((await balance()).status).toBe(401);

    expect(await here(`service settings set prices.email 7 ${flags}`)).toMatchObject({ code: 0 });
    expect((await service.administration.settings.get()).prices.email).toBe(7);
    expect((await here(`sandbox settings get prices.email ${flags}`)).stdout).toBe('7\n');
  });

  it('show the ledger newest first, up to a time', async () => {
    await here(`service projects create Shop ${flags}`);
    const shop = `--project Shop ${flags}`;
    for (const note of ['one', 'two']) await here(`service credit 5 --note ${note} ${shop}`);
    expect(await here(`service credit -1 ${shop}`)).toMatchObject({ code: 2 });
    expect((await here(`service credit -1 --yes ${shop} --value balance`)).stdout).toBe('100009\n');
    const all = await here(`service ledger ${shop} -o csv --columns amount,reason,note`);
    expect(all.stdout.split('\r\n')).toEqual([
      ...['amount,reason,note', '-1,credit,', '5,credit,two', '5,credit,one', '100000,opening,', ''],
    ]);
    const some = await here(`service ledger ${shop} --limit 1 --no-header --columns amount`);
    expect(some).toMatchObject({ stdout: '-1\n', stderr: expect.stringContaining('newest 1') });
    const later = await here(`service ledger ${shop} --since 2999-01-01 --json`);
    expect(later.stdout).toBe('[]\n');
    // The first project has its own.
    expect((await here(`service ledger ${flags} -o csv --columns note`)).stdout).toBe('note\r\n\r\n');
  });

  it('take the credits that are there, and say how many where they are fewer', async () => {
    const poor = `--project Poor ${flags} --yes`;
    await here(`service projects create Poor ${flags}`);
    const all = await here(`service credit -100000 ${poor} --value balance`);
    expect(all).toMatchObject({ stdout: '0\n', stderr: expect.not.stringContaining('Took') });
    await here(`service credit 700 ${poor}`);
    const some = await here(`service credit -5000000 ${poor}`);
    expect(some).toMatchObject({ code: 0, stderr: expect.stringContaining('Removed 700 credits') });
    const none = await here(`service credit -5 ${poor}`);
    expect(none).toMatchObject({ code: 0, stderr: expect.stringContaining('Removed 0 credits') });
  });

  it.runIf(place === 'a database')('urtuu keys reads URTUU_DATABASE, urtuu sandbox does not', async () => {
    const env = { URTUU_DATABASE: flags.replace('--database ', '') };
    expect((await here('keys list --json', env)).stdout).not.toBe('[]\n');
    expect((await here('keys list --sandbox --json', env)).stdout).toBe('[]\n');
    expect((await here('sandbox settings get prices.email', env)).stdout).toBe('2\n');
  });
});

it('the commands of the owner submit nothing', async () => {
  const directory = join(home, 'due');
  const core = await openCore({ directory }, { carriers: () => [] });
  const caller = { projectId: (await core.administration.listProjects())[0]?.id ?? '', keyId: 'k' };
  const params = { to: 'bat@example.mn', subject: 's', text: 't' };
  const { body } = await core.operations.sendEmail({ caller, params, idempotencyKey: null });
  await core.close();
  for (const line of ['keys list', 'sandbox outbox', 'service settings get'])
    expect(await here(`${line} --data ${directory}`)).toMatchObject({ code: 0 });
  const again = await openCore({ directory }, { carriers: () => [] });
  const { id } = body as { id: string };
  expect(await again.operations.getMessage(caller, id)).toMatchObject({ status: 'queued' });
  await again.close();
  expect(JSON.parse((await here(`sandbox outbox --data ${directory} --json`)).stdout)).toEqual([]);
});
