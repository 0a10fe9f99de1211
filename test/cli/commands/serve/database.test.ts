import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createService } from '../../../../src/service/index.js';
import { testFolder } from '../../../support/folders.js';
import { newDatabase, query } from '../../../support/postgres.js';
import { run } from '../../../support/run.js';
import { serveOnce } from '../../../support/serve-once.js';
import { testSecret } from '../../../support/test-engine.js';

const url = 'postgres://urtuu@127.0.0.1:1/urtuu';

function secretFile(content: string | Uint8Array): string {
  const path = join(testFolder(), 'secret');
  writeFileSync(path, content);
  return path;
}

const secret = () => secretFile(new Uint8Array(32).fill(7));

describe('urtuu serve with a database is refused', () => {
  it.each([
    ['--database postgres://urtuu:hunter2@db/urtuu', {}, '--database contains a password'],
    ["--database 'postgres://db/urtuu?user=u&password=hunter2'", {}, '--database contains a password'],
    ["--database 'postgres://urtuu:hun/hunter2@db/urtuu'", {}, '--database is not the URL of a database'],
    ['', { URTUU_DATABASE: 'postgres://urtuu:hunter2/urtuu' }, 'URTUU_DATABASE is not the URL of a database'],
    ['--database mysql://db/urtuu', {}, '--database is not the URL of a database'],
    ['', { URTUU_DATABASE: 'db/urtuu' }, 'URTUU_DATABASE is not the URL of a database'],
    ['--drain-time 3601', {}, 'is over 3600 seconds'],
    [`--database ${url} --data x`, {}, '--data and --database cannot be combined'],
    [`--database ${url}`, {}, 'a database needs a secret; URTUU_SECRET_FILE is not set'],
    ['', { URTUU_DATABASE: url }, 'a database needs a secret; URTUU_SECRET_FILE is not set'],
  ])('%s %o', async (options, env, message) => {
    const { code, stderr } = await run(`serve ${options}`, { env });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('hunter2');
  });

  it('without a secret it prints the line that makes one', async () => {
    const { stderr } = await run(`serve --database ${url}`, { env: {} });
    expect(stderr).toContain("node -e \"fs.writeFileSync('urtuu.secret', crypto.randomBytes(32)");
  });

  it.each(['short', 'g'.repeat(64), new Uint8Array(33)])('with a file that is no secret', async (content) => {
    const { code, stderr } = await run(`serve --database ${url}`, {
      env: { URTUU_SECRET_FILE: secretFile(content) },
    });
    expect(code).toBe(2);
    expect(stderr).toContain('it must have 32 bytes or 64 hex digits');
  });

  it('where the server cannot be reached, or does not know the user', async () => {
    const env = { URTUU_SECRET_FILE: secret() };
    const away = await run(`serve --database ${url}`, { env });
    expect(away.code).toBe(13);
    expect(away.stderr).toContain(`cannot use ${url}: connect ECONNREFUSED`);
    const unknown = new URL(await newDatabase());
    unknown.username = 'nobody';
    unknown.password = 'hunter2';
    const refused = await run('serve', { env: { ...env, URTUU_DATABASE: unknown.href } });
    expect(refused.code).toBe(13);
    expect(refused.stderr).toContain('role "nobody" does not exist');
    expect(refused.stderr).not.toContain('hunter2');
  });

  it.each(['an/hunter2', 'an?hunter2', 'an#hunter2', '12/hunter2', '12?a=hunter2', '12#hunter2'])(
    'by a password with a character that is not encoded, of which nothing is shown: %s',
    async (password) => {
      const { code, stdout, stderr } = await run('serve', {
        env: { URTUU_SECRET_FILE: secret(), URTUU_DATABASE: url.replace('@', `:${password}@`) },
      });
      expect(code).toBe(2);
      expect(stderr).toContain('/ as %2F');
      expect(stdout + stderr).not.toContain('hunter2');
    },
  );

  it.each(['hunter2', 'an@hunter2', 'an:hunter2', '@hunter2@'])(
    'without showing the password %s',
    async (password) => {
      const { code, stdout, stderr } = await run('serve', {
        env: { URTUU_SECRET_FILE: secret(), URTUU_DATABASE: url.replace('@', `:${password}@`) },
      });
      expect(code).toBe(13);
      expect(stdout + stderr).toContain(`cannot use ${url}`);
      expect(stdout + stderr).not.toContain('hunter2');
    },
  );

  it('with a schema that is no name, or several services without one', async () => {
    const env = { URTUU_SECRET_FILE: secret() };
    for (const name of ['pg_catalog', 'information_schema', 'a b', '"urtuu"', 'x'.repeat(64)]) {
      const refused = await run(`serve --database ${url}`, { env: { ...env, URTUU_DATABASE_SCHEMA: name } });
      expect({ name, code: refused.code }).toEqual({ name, code: 2 });
    }
    const database = await newDatabase();
    for (const databaseSchema of ['one', 'two'])
      await (await createService({ database, databaseSchema, secret: testSecret })).close();
    for (const line of [
      'serve --port 0',
      'service status',
      'service verify',
      'keys list',
      'service prune --older-than 30d --yes',
    ]) {
      const { code, stderr } = await run(`${line} --database ${database}`, { env });
      expect({ line, code, stderr }).toMatchObject({
        line,
        code: 13,
        stderr: expect.stringContaining('one, two'),
      });
    }
    const named = { ...env, URTUU_DATABASE_SCHEMA: 'two' };
    expect((await run(`service verify --database ${database}`, { env: named })).code).toBe(0);
    const missing = { ...env, URTUU_DATABASE_SCHEMA: 'three' };
    expect((await run(`service verify --database ${database}`, { env: missing })).code).toBe(12);
  });

  it.each(['LATIN1', 'SQL_ASCII'])('with a new database in the encoding %s', async (encoding) => {
    const database = await newDatabase(`ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`);
    const { code, stderr } = await run(`serve --port 0 --database ${database}`, {
      env: { URTUU_SECRET_FILE: secret() },
    });
    expect(code).toBe(13);
    expect(stderr).toContain(`the encoding of the database is ${encoding}, not UTF8`);
    expect(stderr).toContain('createdb --encoding UTF8 --locale C --template template0');
    expect(await query(database, "SELECT 1 FROM pg_tables WHERE schemaname IN ('public', 'urtuu')")).toEqual(
      [],
    );
  });

  it('whose role may only read', async () => {
    const database = await newDatabase();
    await query(
      database,
      `ALTER DATABASE ${new URL(database).pathname.slice(1)} SET default_transaction_read_only = on`,
    );
    const { code, stderr } = await run(`serve --database ${database}`, {
      env: { URTUU_SECRET_FILE: secret() },
    });
    expect(code).toBe(13);
    expect(stderr).toMatch(/read-only transaction\n.*default_transaction_read_only/);
  });

  it('with another secret than the one it was started with', async () => {
    const database = await newDatabase();
    await (await createService({ database, secret: new Uint8Array(32).fill(8) })).close();
    const { code, stderr } = await run(`serve --database ${database}`, {
      env: { URTUU_SECRET_FILE: secret() },
    });
    expect(code).toBe(13);
    expect(stderr).toContain('the database belongs to another secret');
  });
});

describe('urtuu serve with a database', () => {
  it('makes one key, at the first start of the first instance', async () => {
    const database = await newDatabase();
    const hex = secretFile(`${Buffer.from(new Uint8Array(32).fill(7)).toString('hex')}\n`);
    const first = await serveOnce(`--database ${database}`, { URTUU_SECRET_FILE: secret() });
    expect(first.code).toBe('SIGTERM');
    expect(JSON.parse(first.stdout)).toMatchObject({
      data: database,
      api_key: expect.stringMatching(/^urtuu_/),
    });
    const later = await serveOnce(`--database ${database}`, { URTUU_SECRET_FILE: hex });
    expect(JSON.parse(later.stdout)).toMatchObject({ data: database, api_key: null });
    expect(later.stderr).toContain('The database already has an API key.');
  });

  it('is not used where --data names a folder, and says so', async () => {
    const folder = testFolder();
    const { stdout, stderr } = await serveOnce(`--data ${folder}`, { URTUU_DATABASE: url });
    expect(JSON.parse(stdout)).toMatchObject({ data: folder });
    expect(stderr).toContain('URTUU_DATABASE is not used, because --data names a folder.');
  });

  it('makes one key when two instances start together', async () => {
    const database = await newDatabase();
    const open = () => createService({ database, secret: new Uint8Array(32).fill(7) });
    const services = await Promise.all([open(), open()]);
    const keys = await Promise.all(services.map(({ administration }) => administration.createFirstKey()));
    expect(keys.filter((key) => key !== null)).toHaveLength(1);
    expect(await services[0]?.administration.listKeys()).toHaveLength(1);
    await Promise.all(services.map((service) => service.close()));
  });
});
