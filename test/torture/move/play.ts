import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { movedTables } from '../../../src/service/data/move/mapping.js';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { Machine } from '../../support/binary.js';
import { startProxy } from '../../support/postgres/proxy.js';
import { query } from '../../support/postgres.js';
import { seededRandom } from '../../support/random.js';
import { createDatabase, withCluster } from '../cluster/own-cluster.js';
import { audit, type Findings, openAccounts } from '../service/books.js';
import { type Customers, startCustomers } from '../service/customers.js';
import { type Server, served, servedOn } from '../service/server.js';
import { dueOverTime, taskMaker } from '../service/tasks.js';
import { anyTrouble, movedWhole, type Setting } from './movers.js';

/** What a move leaves wrong on purpose. */
export type Flaw = 'nothing' | 'forgets_keys' | 'leaves_the_folder_unmarked';

export interface MoveGame {
  seed: number;
  /** Messages that customers begin to send before the first mover starts. */
  messages: number;
  /** Movers that are interrupted, at most, before one that is not. */
  interruptions: number;
  /** Of a move that nobody interrupts, about: a mover is killed within them. */
  longestLife: number;
  mostStatements: number;
  instances: number;
  customers: number;
  flaw: Flaw;
  /** The control of the other side: customers who repeat with a new key. */
  forgetKeys?: boolean;
}

export interface MoveResult extends Findings {
  sends: number;
  messages: number;
  interruptions: number;
  /** SMS that failed and were refunded, because nobody served in the time that their callers wait. */
  givenUp: number;
  /** Tables that have other rows than the folder. */
  counts: string[];
  /** Times that the folder and the database were served at once. */
  owners: number;
  /** Movers that ended as they must not. */
  strange: string[];
}

/**
 * Customers who never stop asking, while the folder is served, killed, moved by movers that are interrupted again and
 * again, and served from the database. Between two movers both sides are started: at most one of them may serve.
 */
export function playMove(game: MoveGame): Promise<MoveResult> {
  const random = seededRandom(game.seed);
  return withCluster(async (cluster) => {
    const machine = new Machine();
    const directory = join(machine.home, 'service');
    const secretFile = join(machine.home, 'urtuu.secret');
    const database = await createDatabase(cluster.url, 'urtuu');
    const proxy = await startProxy(database, false);
    const folder = served(machine, directory);
    const instances = Array.from({ length: game.instances }, () =>
      servedOn(machine, database, secretFile, {}),
    );
    const all = [folder, ...instances];
    let customers: Customers | undefined;
    let answering: Server = folder;

    const end = (server: Server) => server.end(random() < 0.5 ? 'SIGKILL' : 'SIGTERM');
    /** Both sides at once, as an owner might who does not know how far it is; those that serve. */
    async function serveWhatServes(): Promise<Server[]> {
      // In an empty database `urtuu serve` begins a service of its own.
      const sides = (await isBegun(database)) ? [folder, ...instances.slice(0, 1)] : [folder];
      const isServed = await Promise.all(sides.map(starts));
      if (isServed.some((one) => one)) await sleep(300);
      await Promise.all(sides.map(end));
      return sides.filter((_, index) => isServed[index]);
    }

    try {
      // A copy, which this process does not have open: on Node.js 20 a closed connection keeps its locks for a while.
      const made = join(machine.home, 'made');
      const accounts = await openAccounts(made, 12);
      cpSync(made, directory, { recursive: true });
      await folder.start();
      const maker = taskMaker(accounts.length, random, 400);
      let begun = 0;
      customers = startCustomers({
        count: game.customers,
        next() {
          const task = maker.next();
          begun += task.arrive;
          return task;
        },
        url() {
          const up = all.filter((one) => one.running && one.url !== '');
          answering = up[Math.floor(random() * up.length)] ?? answering;
          return answering.url;
        },
        apiKey: (project) => accounts[project]?.keys[0] ?? '',
        forgetKeys: game.forgetKeys ?? false,
      });
      while (begun < game.messages) await sleep(50);
      await folder.end('SIGKILL');
      await folder.start();
      await sleep(300);
      await end(folder);

      const { longestLife, mostStatements } = game;
      const setting: Setting = {
        ...{ machine, cluster, proxy, directory, secretFile, random },
        ...{ longestLife, mostStatements },
      };
      const result = { interruptions: 0, owners: 0, strange: [] as string[] };
      let hasServedThere = false;
      for (;;) {
        const isLast = result.interruptions >= game.interruptions;
        const { isDone, strange } = isLast ? await movedWhole(setting) : await anyTrouble(setting);
        result.strange.push(...strange);
        if (isDone) break;
        result.interruptions += 1;
        if (random() >= 0.3) continue;
        const serving = await serveWhatServes();
        if (serving.length > 1) result.owners += 1;
        // A mover that was interrupted after its last commit.
        if (serving.some((server) => server !== folder)) hasServedThere = true;
      }
      const counts = hasServedThere ? [] : await countsOff(directory, database);
      await spoil(game.flaw, directory, database);

      if (await starts(folder)) result.owners += 1;
      for (const instance of instances) await instance.start();
      await sleep(1_000);
      const answers = await customers.finish();
      const acknowledged = answers.map(dueOverTime);
      await Promise.all(all.map((server) => server.end('SIGTERM')));
      return {
        ...result,
        ...(await audit(database, accounts, acknowledged, readFileSync(secretFile))),
        sends: answers.length,
        messages: acknowledged.reduce((sum, { task }) => sum + task.arrive, 0),
        givenUp: answers.filter((one) => one.status === 502 && one.task.arrive > 0).length,
        counts,
      };
    } finally {
      customers?.dismiss();
      proxy.close();
      await Promise.all(all.map((server) => server.end('SIGKILL')));
      machine.remove();
    }
  });
}

/** False where it is refused: the data has another owner, or is on its way. */
async function starts(server: Server): Promise<boolean> {
  try {
    await server.start();
    return true;
  } catch (error) {
    if (/is being moved|was moved|is being filled|no such file|cannot read the secret/i.test(String(error)))
      return false;
    throw error;
  }
}

async function isBegun(database: string): Promise<boolean> {
  const [table] = await query<{ name: string | null }>(
    database,
    "SELECT to_regclass('installation') AS name",
  );
  return (table?.name ?? null) !== null && (await query(database, 'SELECT 1 FROM installation')).length > 0;
}

/** Of the folder as it was moved, against the database before anybody serves it. */
async function countsOff(directory: string, database: string): Promise<string[]> {
  const { DatabaseSync } = await loadEngine();
  const off: string[] = [];
  for (const { file, from, where = 'true', to } of movedTables) {
    const source = new DatabaseSync(join(directory, file === 'store' ? 'service.db' : 'operator.db'), {
      readOnly: true,
    });
    const text = (table: string, condition: string) =>
      `SELECT count(*) AS count FROM ${table} WHERE ${condition}`;
    const { count: here } = source.prepare(text(from, where)).get() as { count: number };
    source.close();
    const [there] = await query<{ count: string }>(database, text(to, 'true'));
    if (Number(there?.count) !== here) off.push(`${to} ${there?.count} of ${here}`);
  }
  return off;
}

async function spoil(flaw: Flaw, directory: string, database: string): Promise<void> {
  if (flaw === 'forgets_keys') await query(database, 'DELETE FROM idempotency');
  if (flaw === 'leaves_the_folder_unmarked') {
    const { DatabaseSync } = await loadEngine();
    const store = new DatabaseSync(join(directory, 'service.db'));
    store.exec('DELETE FROM moves');
    store.close();
  }
}
