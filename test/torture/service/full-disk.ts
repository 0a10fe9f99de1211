import { spawn } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine, root } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { fill, smallDisk } from '../../support/small-disk.js';
import { audit, type Findings, openAccounts } from './books.js';
import { codeOf, startCustomers } from './customers.js';
import { Server } from './server.js';
import { dueOverTime, type Task, taskMaker } from './tasks.js';

const accountCount = 12;
/** Milliseconds that a single SMS has, of which a full disk may take all; and until the rest is used up. */
const singleTime = 15_000;
const longestFilling = 20_000;

export interface FullDiskResult extends Findings {
  fills: number;
  /** Milliseconds from the first send to the end of the last. */
  lasted: number;
  sends: number;
  /** Answers that nothing was done, or that nobody knows yet: 503. */
  refused: number;
  /** Any other answer of 500 and up. */
  crashed: string[];
}

/** Fills the disk of the data under load, makes room again, and kills the service in the middle of either. */
export async function playFullDisk(options: {
  seed: number;
  fills: number;
  /** The control: customers who repeat with a new key. */
  forgetKeys?: boolean;
}): Promise<FullDiskResult> {
  const random = seededRandom(options.seed);
  const machine = new Machine();
  const folder = join(machine.home, 'disk');
  const prepared = join(machine.home, 'service');
  const disk = await smallDisk(folder);
  const data = join(disk.path, 'service');
  const server = new Server((port) => {
    const words = [
      'serve',
      '--drain-time',
      '0',
      '--port',
      String(port),
      '--data',
      join(folder, 'service'),
      '-o',
      'ndjson',
    ];
    const command = [process.execPath, join(root, 'bin/urtuu.js'), ...words];
    return spawn('nsenter', [...disk.within, ...command], { env: machine.environment() });
  });
  let refused = 0;
  const crashed: string[] = [];
  let customers: ReturnType<typeof startCustomers> | undefined;
  try {
    // SQLite takes no way that leads through a process.
    const accounts = await openAccounts(prepared, accountCount);
    cpSync(prepared, data, { recursive: true });
    const maker = taskMaker(accounts.length, random, 200);
    const begun = new Map<Task, number>();
    await server.start();
    const started = performance.now();
    customers = startCustomers({
      count: 24,
      next() {
        const task = maker.next();
        begun.set(task, performance.now());
        return task;
      },
      url: () => server.url,
      apiKey: (project) => accounts[project]?.keys[0] ?? '',
      forgetKeys: options.forgetKeys ?? false,
      onReply(_, reply) {
        if (reply.status === 503) refused += 1;
        else if (reply.status >= 500 && codeOf(reply) !== 'provider_failed')
          crashed.push(`${reply.status} ${JSON.stringify(reply.body)}`);
      },
    });
    for (let filled = 0; filled < options.fills; filled += 1) {
      await sleep(200 + random() * 300);
      const before = refused;
      fill(disk.path, random() * 300_000);
      for (let waited = 0; waited < longestFilling && refused === before; waited += 50) {
        await sleep(50);
        // Files that had room of their own need none for a while.
        if (waited > 1_000) fill(disk.path, 0);
      }
      await sleep(random() * 1_000);
      const isKilled = random() < 0.5;
      if (isKilled) await server.end('SIGKILL');
      rmSync(join(disk.path, 'filler'));
      if (isKilled) await server.start();
    }
    const acknowledged = (await customers.finish()).map((one) =>
      one.at - (begun.get(one.task) ?? one.at) > singleTime ? dueOverTime(one) : one,
    );
    const lasted = performance.now() - started;
    await server.end('SIGTERM');
    rmSync(prepared, { recursive: true });
    cpSync(data, prepared, { recursive: true });
    const found = await audit(prepared, accounts, acknowledged);
    return { fills: options.fills, lasted, sends: acknowledged.length, refused, crashed, ...found };
  } finally {
    customers?.dismiss();
    await server.end('SIGKILL');
    await disk.end();
    machine.remove();
  }
}
