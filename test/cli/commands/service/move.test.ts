import { cpSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type MoveMark, moveData } from '../../../../src/service/data/move/move-data.js';
import { Cores, caller } from '../../../support/cores.js';
import { newDatabase, query } from '../../../support/postgres.js';
import { run } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';

const cores = new Cores();
let home: string;
let url: string;
beforeEach(async () => {
  home = cores.folder();
  url = await newDatabase();
  const core = await cores.open({ directory: join(home, 'made') });
  await core.operations.sendSms({ caller, params: { to: '99112233', text: 'hi' }, idempotencyKey: 'before' });
  await core.close();
  cpSync(join(home, 'made'), join(home, 'data'), { recursive: true });
});
afterEach(() => cores.closeAll());

const here = (line: string, env: Record<string, string> = {}) =>
  run(line, { home, cwd: home, env: { URTUU_DATABASE: url, ...env }, clock: { now: () => Date.now() } });
const line = 'service move --data data --secret-file urtuu.secret';

/** A move whose process dies at a mark. */
async function killedAt(mark: MoveMark, directory: string): Promise<void> {
  const at = (reached: MoveMark) => {
    if (reached === mark) throw new Error('killed');
  };
  const secretFile = join(home, 'urtuu.secret');
  await expect(moveData({ directory, url, database: url, secretFile, at })).rejects.toThrow('killed');
}

it('moves a folder to a database, which has everything; the folder says where it is', async () => {
  const moved = await here(`${line} --yes -o json`);
  expect(moved).toMatchObject({ code: 0 });
  expect(JSON.parse(moved.stdout)).toEqual({
    data: join(home, 'data'),
    database: url,
    secret_file: join(home, 'urtuu.secret'),
    status: 'moved',
    rows: expect.any(Number),
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(statSync(join(home, 'urtuu.secret')).mode & 0o777).toBe(0o600);
  const ledger = await here('service ledger -o json', { URTUU_SECRET_FILE: 'urtuu.secret' });
  expect(JSON.parse(ledger.stdout)).toHaveLength(2);
  cpSync(join(home, 'data'), join(home, 'again'), { recursive: true });
  const refused = await here('service ledger --data again');
  expect(refused).toMatchObject({ code: 13, stderr: expect.stringContaining('was moved to postgres://') });
  expect(refused.stderr).toMatch(new RegExp(` urtuu serve --database ${url}\n$`));
  cpSync(join(home, 'again'), join(home, 'third'), { recursive: true });
  const again = await here('service move --data third --secret-file urtuu.secret --yes -o json');
  expect(JSON.parse(again.stdout)).toMatchObject({ status: 'moved_before', rows: 0, digest: null });
});

it('prints the line that serves the database, which serves', async () => {
  const moved = await here(`${line} --yes`);
  expect(moved.stderr).toMatch(/^Give every instance URTUU_SECRET_FILE=.*urtuu serve --database \S+\n$/);
  cpSync(join(home, 'data'), join(home, 'again'), { recursive: true });
  // A password stays in its variable.
  const secret = url.replace('postgres@', 'postgres:secret@');
  const again = await here('service move --data again --secret-file urtuu.secret --yes', {
    URTUU_DATABASE: secret,
  });
  expect(again.stderr).toMatch(/, and serve it: urtuu serve\n$/);
});

it('quotes the name of the secret file for the shell', async () => {
  const { stderr } = await here("service move --data data --secret-file 'my secret' --yes");
  expect(stderr).toContain(`URTUU_SECRET_FILE='${join(home, 'my secret')}', and serve it:`);
});

it('that was cut short prints the line that goes on, whatever the folder is called', async () => {
  const directory = join(home, 'my data');
  cpSync(join(home, 'data'), directory, { recursive: true });
  const secretFile = join(home, 'urtuu.secret');
  await killedAt('copied', directory);
  cpSync(directory, join(home, 'her data'), { recursive: true });
  const refused = await here("service ledger --data 'her data'", { URTUU_DATABASE: '' });
  expect(refused.code).toBe(13);
  const [, goOn = ''] = /: urtuu (service move .*)\n$/.exec(refused.stderr) ?? [];
  expect(goOn).toContain(`--data '${join(home, 'her data')}' --database ${url}`);
  const filling = await here('service ledger', { URTUU_SECRET_FILE: secretFile });
  expect(filling).toMatchObject({ code: 13, stderr: expect.stringContaining('is being filled from') });
  cpSync(join(home, 'her data'), join(home, 'her data '), { recursive: true });
  expect(await here(`${goOn.replace("her data'", "her data '")} --yes`)).toMatchObject({ code: 0 });
});

it('that was cut short before the database opened prints the line that goes on, until it has', async () => {
  await killedAt('moved', join(home, 'data'));
  cpSync(join(home, 'data'), join(home, 'again'), { recursive: true });
  const refused = await here('service ledger --data again');
  expect(refused).toMatchObject({ code: 13, stderr: expect.stringContaining('was moved to postgres://') });
  const [, goOn = ''] = /: urtuu (service move .*)\n$/.exec(refused.stderr) ?? [];
  expect(goOn).toContain(`--data ${join(home, 'again')} --database ${url}`);
  cpSync(join(home, 'again'), join(home, 'third'), { recursive: true });
  expect(await here(`${goOn.replace('/again', '/third')} --yes`)).toMatchObject({ code: 0 });
  cpSync(join(home, 'third'), join(home, 'fourth'), { recursive: true });
  const opened = await here('service ledger --data fourth');
  expect(opened.stderr).toMatch(new RegExp(` urtuu serve --database ${url}\n$`));
});

it('is refused with 11 while a process has the folder open', async () => {
  const core = await cores.open({ directory: join(home, 'data') });
  expect(await here(`${line} --yes`)).toMatchObject(saying(11, 'Stop every process that uses it'));
  await core.close();
  expect(existsSync(join(home, 'urtuu.secret'))).toBe(false);
});

it('never prompts without a terminal', async () => {
  expect(await here(line)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
});

it('says why the database cannot be used, and leaves the folder as it was', async () => {
  const away = { URTUU_DATABASE: 'postgres://postgres@127.0.0.1:1/urtuu' };
  const refused = await here(`${line} --yes`, away);
  expect(refused).toMatchObject({ code: 13, stderr: expect.stringContaining('cannot use postgres://') });
  await query(url, 'CREATE TABLE customers (name text)');
  cpSync(join(home, 'data'), join(home, 'again'), { recursive: true });
  const foreign = await here('service move --data again --secret-file urtuu.secret --yes');
  expect(foreign).toMatchObject({ code: 13, stderr: expect.stringContaining('public.customers') });
  cpSync(join(home, 'again'), join(home, 'free'), { recursive: true });
  const none = await here('service move --data free --abandon --yes', away);
  expect(none).toMatchObject({ code: 11, stderr: expect.stringContaining('is not being moved') });
});

it('is refused with a database in another encoding, and leaves the folder as it was', async () => {
  const database = await newDatabase("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const refused = await here(`${line} --yes`, { URTUU_DATABASE: database });
  expect(refused).toMatchObject({ code: 13, stderr: expect.stringContaining('createdb --encoding UTF8') });
  expect(existsSync(join(home, 'urtuu.secret'))).toBe(false);
  cpSync(join(home, 'data'), join(home, 'again'), { recursive: true });
  expect(await here('service ledger --data again')).toMatchObject({ code: 0 });
});

it('with --sandbox, means the data of the sandbox', async () => {
  const refused = await here('--sandbox service move --secret-file urtuu.secret --yes');
  expect(refused).toMatchObject({ code: 12, stderr: expect.stringContaining('sandbox') });
});

it('starts no service where there is nothing to move, and prints no line that would', async () => {
  const { code, stderr } = await here(`${line.replace('--data data', '--data nothing')} --yes`);
  expect({ code, stderr }).toEqual({
    code: 12,
    stderr: `urtuu: no service data in ${join(home, 'nothing')}\n  Nothing was moved. Name the data folder of a service with --data.\n`,
  });
  expect(existsSync(join(home, 'nothing'))).toBe(false);
});
