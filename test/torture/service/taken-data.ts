import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createService } from '../../../src/service/index.js';
import { Machine, outcomeOf } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { audit, type Findings, openAccounts } from './books.js';
import { startCustomers } from './customers.js';
import { Server } from './server.js';
import { taskMaker } from './tasks.js';

const files = ['service.db', 'operator.db', 'secret', 'installation.json', 'rates.db'] as const;
const suffixes = ['', '-wal', '-shm'];

interface Folders {
  data: string;
  /** The same, of some runs before. */
  old: string;
  /** Another installation's. */
  foreign: string;
}

/** What happens to a file while nothing uses it. */
const atRest: Record<string, (file: string, folders: Folders) => void> = {
  missing: (file, { data }) => remove(join(data, file)),
  empty: (file, { data }) => truncateSync(join(data, file), 0),
  garbage(file, { data }) {
    remove(join(data, file));
    writeFileSync(join(data, file), 'This is something else. '.repeat(400));
  },
  foreign: (file, { data, foreign }) => replace(join(data, file), join(foreign, file)),
  old: (file, { data, old }) => replace(join(data, file), join(old, file)),
};

/** An old secret is the secret. */
const cases = files.flatMap((file) =>
  Object.keys(atRest)
    .filter((how) => !(file === 'secret' && how === 'old'))
    .map((how) => ({ file, how })),
);

function remove(path: string): void {
  for (const suffix of suffixes) rmSync(path + suffix, { force: true });
}

function replace(path: string, by: string): void {
  remove(path);
  for (const suffix of suffixes) if (existsSync(by + suffix)) copyFileSync(by + suffix, path + suffix);
}

export interface TakenResult extends Findings {
  cases: number;
  sends: number;
  /** What was started on, or went on, that had to be refused; and what was refused for its rates. */
  wronglyTaken: string[];
}

/**
 * Damages the data in every way, at rest and under load: `urtuu serve` refuses it, or ends, and goes on when it is
 * put back. With `accepts` it starts all the same, which is the control.
 */
export async function playTakenData(options: {
  seed: number;
  /** How many of the cases at rest; all where there are fewer. */
  atRest: number;
  underLoad: number;
  accepts?: boolean;
}): Promise<TakenResult> {
  const random = seededRandom(options.seed);
  const machine = new Machine();
  const at = (name: string) => join(machine.home, name);
  const folders: Folders = { data: at('data'), old: at('old'), foreign: at('foreign') };
  const accept = options.accepts === true ? ['--accept-data', '--yes'] : [];
  const serve = (port: number) =>
    machine.start([
      'serve',
      '--drain-time',
      '0',
      '--port',
      String(port),
      '--data',
      folders.data,
      '-o',
      'ndjson',
      ...accept,
    ]);
  const server = new Server(serve);
  const wronglyTaken: string[] = [];
  let acknowledged: Awaited<ReturnType<ReturnType<typeof startCustomers>['finish']>> = [];
  const accounts = await openAccounts(folders.data, 8);
  const maker = taskMaker(accounts.length, random);

  async function load(during: () => Promise<void>): Promise<void> {
    const customers = startCustomers({
      count: 16,
      next: maker.next,
      url: () => server.url,
      apiKey: (project) => accounts[project]?.keys[0] ?? '',
    });
    try {
      await during();
      acknowledged = [...acknowledged, ...(await customers.finish())];
    } finally {
      customers.dismiss();
    }
  }

  async function run(): Promise<void> {
    await server.start();
    await load(() => sleep(100 + random() * 200));
    await server.end(random() < 0.5 ? 'SIGKILL' : 'SIGTERM');
  }

  /** `starts`, or the code that it ends with before; what then stops it is no matter. */
  async function tryToStart(): Promise<'starts' | number | null> {
    const child = serve(0);
    const ended = outcomeOf(child);
    const began = once(child.stdout as NodeJS.ReadableStream, 'data').then(() => 'starts' as const);
    const result = await Promise.race([began, ended.then(({ code }) => code)]);
    child.kill('SIGKILL');
    await ended;
    return result;
  }

  try {
    await (await createService({ directory: folders.foreign })).close();
    await run();
    cpSync(folders.data, folders.old, { recursive: true });
    await run();
    await run();
    const chosen = cases.map((one) => ({ one, rank: random() })).sort((a, b) => a.rank - b.rank);
    for (const { one } of chosen.slice(0, options.atRest)) {
      cpSync(folders.data, at('whole'), { recursive: true });
      atRest[one.how]?.(one.file, folders);
      const outcome = await tryToStart();
      if (outcome !== (one.file === 'rates.db' ? 'starts' : 13))
        wronglyTaken.push(`${one.file} ${one.how}: ${outcome}`);
      rmSync(folders.data, { recursive: true });
      renameSync(at('whole'), folders.data);
    }
    for (let taken = 0; taken < options.underLoad; taken += 1) {
      const file = files[taken % (files.length - 1)] ?? files[0];
      await server.start();
      await load(async () => {
        await sleep(100 + random() * 200);
        const path = join(folders.data, file);
        for (const suffix of suffixes)
          if (existsSync(path + suffix)) renameSync(path + suffix, `${at('aside')}${suffix}`);
        for (let waited = 0; waited < 5_000 && server.running; waited += 50) await sleep(50);
        if (server.running) wronglyTaken.push(`${file} under load`);
        await server.end('SIGKILL');
        remove(path);
        for (const suffix of suffixes)
          if (existsSync(at('aside') + suffix)) renameSync(at('aside') + suffix, path + suffix);
        await server.start();
      });
      await server.end('SIGTERM');
    }
    const findings = await audit(folders.data, accounts, acknowledged);
    const played = Math.min(cases.length, options.atRest) + options.underLoad;
    return { cases: played, sends: acknowledged.length, wronglyTaken, ...findings };
  } finally {
    await server.end('SIGKILL');
    machine.remove();
  }
}
