import { spawn } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { outcomeOf, printed, root } from '../support/binary.js';
import { seededRandom } from '../support/random.js';
import { withCluster } from '../torture/cluster/own-cluster.js';
import { audit, openAccounts, wrong } from '../torture/service/books.js';
import { startCustomers } from '../torture/service/customers.js';
import { dueOverTime, taskMaker } from '../torture/service/tasks.js';
import { blocksOf, textOf } from './pages.js';
import { installSystemd, ReaderMachine } from './reader-machine.js';

const page = 'docs/running.md';
const [unit] = blocksOf(page).filter(({ code }) => code.includes('systemctl enable --now urtuu'));

/** The section's blocks, in their order. */
function blocks(): string[] {
  const lines = textOf(page).split('\n');
  const first = lines.indexOf('### From one machine to several');
  const last = lines.findIndex((line, index) => index > first && line.startsWith('#'));
  return blocksOf(page)
    .filter(({ line }) => line > first && line < last)
    .map(({ code }) => code);
}

const baseUrlOf = (line: string) => (JSON.parse(line) as { base_url: string }).base_url;

it('from one machine to several, typed line by line, while customers never stop asking', async () => {
  await withCluster(async ({ url: cluster }) => {
    await using machine = await ReaderMachine.open();
    installSystemd(machine);
    const { folder } = machine;
    const database = `${cluster}/urtuu`;
    const here = (code: string) =>
      machine.localized(code.replaceAll('postgres://urtuu@db.example.mn/urtuu', database));
    const type = (code: string) => machine.bash(here(code), { ...machine.environment, PGURL: cluster });
    const client = machine.write(
      'createdb.cjs',
      `const { Client } = require('${join(root, 'node_modules/pg')}');
const client = new Client({ connectionString: process.env.PGURL + '/postgres' });
client.connect().then(() => client.query('CREATE DATABASE ' + process.argv[2])).then(() => client.end());`,
    );
    machine.script('createdb', `exec '${process.execPath}' '${client}' "$@"`);
    // Copied: on Node.js 20 this process keeps the locks of a connection that it has closed.
    const accounts = await openAccounts(join(folder, 'made'), 3);
    cpSync(join(folder, 'made'), join(folder, 'lib/urtuu'), { recursive: true });
    expect(await type(unit?.code ?? '')).toMatchObject({ code: 0 });

    let urls = [baseUrlOf(readFileSync(join(folder, 'started'), 'utf8'))];
    let asked = 0;
    let answered = 0;
    const answers = (count: number) => vi.waitUntil(() => answered >= count, 30_000);
    const customers = startCustomers({
      count: 8,
      next: taskMaker(accounts.length, seededRandom(1)).next,
      url() {
        asked += 1;
        return urls[asked % urls.length] ?? '';
      },
      apiKey: (project) => accounts[project]?.keys[0] ?? '',
      onReply() {
        answered += 1;
      },
    });
    const instances: ReturnType<typeof spawn>[] = [];
    try {
      await answers(50);
      const [move = '', serve = '', ...more] = blocks();
      expect(more).toEqual([]);
      for (const line of move.trim().split('\n')) expect(await type(line)).toMatchObject({ code: 0 });

      const refused = await type('systemctl start urtuu');
      expect(refused.code).not.toBe(0);
      expect(readFileSync(join(folder, 'log'), 'utf8')).toContain('was moved to');
      const block = here(serve)
        .replace('--host 10.0.0.11', '--port 0 -o ndjson')
        .replace('urtuu serve ', 'exec urtuu serve ');
      expect(block).toContain('exec urtuu serve --port 0');
      for (let instance = 0; instance < 2; instance += 1) {
        const env = machine.environment;
        instances.push(spawn('bash', ['-euc', block], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
      }
      const lines = await Promise.all(
        instances.map((instance) => printed(instance, 'stdout', /"base_url".*\n/)),
      );
      urls = lines.map((text) => baseUrlOf(text.split('\n').find((line) => line.includes('base_url')) ?? ''));
      await answers(answered + 50);
      const acknowledged = (await customers.finish()).map(dueOverTime);
      expect(acknowledged.length).toBeGreaterThan(40);
      const secret = readFileSync(join(folder, 'urtuu/urtuu.secret'));
      const findings = await audit(database, accounts, acknowledged, secret);
      expect({ ...findings, wrong: wrong(findings) }).toMatchObject({ wrong: 0 });
    } finally {
      customers.dismiss();
      for (const instance of instances) {
        const ended = outcomeOf(instance);
        instance.kill('SIGKILL');
        await ended;
      }
    }
  });
}, 120_000);
