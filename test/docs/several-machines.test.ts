import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { Machine, outcomeOf, printed, root } from '../support/binary.js';
import { newDatabase, query } from '../support/postgres.js';
import { blocksOf } from './pages.js';
import { ReaderMachine } from './reader-machine.js';

const shell = blocksOf('docs/running.md').filter(({ language }) => language === 'sh');
const blockWith = (text: string) => shell.find(({ code }) => code.includes(text))?.code ?? '';

/** The first line of an instance, which ends with the test. */
function started(child: ChildProcess): Promise<string> {
  const ended = outcomeOf(child);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return printed(child, 'stdout', /\n/);
}

/** Sends over the first, and repeats and reads over the second. */
async function expectOneService(lines: readonly string[], key: string, database: string): Promise<void> {
  const [one, two] = lines.map((line) => (JSON.parse(line) as { base_url: string }).base_url);
  const machine = new Machine();
  onTestFinished(() => machine.remove());
  const urtuu = (url: string | undefined, ...args: string[]) =>
    machine.run([...args, '--base-url', url ?? '', '--json'], { env: { URTUU_API_KEY: key } });
  const send = ['sms', 'send', '99112233', 'Hello', '--idempotency-key', 'first'];
  const sent = await urtuu(one, ...send);
  expect(sent).toMatchObject({ code: 0 });
  const { id } = JSON.parse(sent.stdout);
  const again = await urtuu(two, ...send);
  expect(JSON.parse(again.stdout)).toMatchObject({ id });
  const read = await urtuu(two, 'messages', 'get', id);
  expect(JSON.parse(read.stdout)).toMatchObject({ id, status: 'sent' });
  expect(await query(database, 'SELECT reference FROM deliveries')).toEqual([{ reference: id }]);
}

it('the page of several machines, typed on two of them, is one service', async () => {
  await using machine = await ReaderMachine.open();
  const database = await newDatabase();
  expect(await machine.bash(blockWith('> urtuu.secret'))).toMatchObject({ code: 0 });
  const block = blockWith('urtuu serve --host 10.0.0.11')
    .replace('postgres://urtuu@db.example.mn/urtuu', database)
    .replace('--host 10.0.0.11', '--port 0 -o ndjson')
    .replace('/etc/urtuu/', `${machine.folder}/`)
    .replace('urtuu serve', 'exec urtuu serve');
  const lines: string[] = [];
  for (let instance = 0; instance < 2; instance += 1) {
    const child = spawn('bash', ['-euc', block], {
      env: machine.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    lines.push(await started(child));
  }
  const made = await machine.bash(
    `export URTUU_DATABASE=${database} URTUU_SECRET_FILE=${machine.folder}/urtuu.secret; urtuu keys create --json`,
  );
  await expectOneService(lines, JSON.parse(made.stdout).secret, database);
});

interface Compose {
  services: Record<string, { command: string[]; environment: Record<string, string>; secrets: string[] }>;
  configs: { balancer: { content: string } };
  secrets: { urtuu: { file: string } };
}

it('the instances of deploy/compose.yaml are one service, and the balancer knows them', async () => {
  const compose: Compose = parseYaml(readFileSync(join(root, 'deploy/compose.yaml'), 'utf8'), {
    merge: true,
  });
  const { services, configs, secrets } = compose;
  const names = Object.keys(services).filter((name) => services[name]?.environment?.URTUU_DATABASE);
  expect(names).toEqual(['one', 'two']);
  const known = [...configs.balancer.content.matchAll(/server (\w+):7788/g)].map(([, name]) => name);
  expect(known).toEqual(names);
  expect(shell.map(({ code }) => code).join('')).toContain(`deploy/${secrets.urtuu.file}`);

  const machine = new Machine();
  onTestFinished(() => machine.remove());
  const database = await newDatabase();
  const secret = join(machine.home, 'secret');
  writeFileSync(secret, new Uint8Array(32).fill(7), { mode: 0o600 });
  onTestFinished(() => rmSync(secret, { force: true }));
  const envOf = (name: string) => {
    const { URTUU_DATABASE, URTUU_SECRET_FILE } = services[name]?.environment ?? {};
    expect(URTUU_DATABASE).toBe('postgres://urtuu@postgres/urtuu');
    expect(URTUU_SECRET_FILE).toBe(`/run/secrets/${services[name]?.secrets[0]}`);
    return { URTUU_DATABASE: database, URTUU_SECRET_FILE: secret };
  };
  const lines: string[] = [];
  for (const name of names) {
    const command = services[name]?.command ?? [];
    const local = command.map((word) => (word === '0.0.0.0' ? '127.0.0.1' : word));
    lines.push(await started(machine.start([...local, '--port', '0', '-o', 'ndjson'], { env: envOf(name) })));
  }
  const made = await machine.run(['keys', 'create', '--label', 'shop', '--json'], { env: envOf('one') });
  await expectOneService(lines, JSON.parse(made.stdout).secret, database);
});
