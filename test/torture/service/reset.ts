import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openingBalance } from '../../../src/service/index.js';
import { Machine } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { type Account, audit, type Findings, openAccounts } from './books.js';
import { attempt, type Customers, isFinal, startCustomers } from './customers.js';
import { resetBroken, served } from './server.js';
import { type Acknowledgement, taskMaker } from './tasks.js';

export interface ResetResult extends Findings {
  sends: number;
}

/**
 * Resets `urtuu serve` under load from another process, again and again. Every send must be whole on one side of a
 * reset: what was acknowledged before the last one is gone, with its deliveries; what came after it is there once.
 * Customers cannot tell on which side a send was that they made meanwhile, so they repeat it with its key.
 */
export async function playResets(options: {
  seed: number;
  resets: number;
  customers: number;
  reset: 'urtuu sandbox reset' | 'resets_in_any_order';
}): Promise<ResetResult> {
  const random = seededRandom(options.seed);
  const machine = new Machine();
  const directory = join(machine.home, 'service');
  const server = served(machine, directory);
  let customers: Customers | undefined;

  async function reset(): Promise<void> {
    if (options.reset !== 'urtuu sandbox reset') return resetBroken(machine, directory, options.reset);
    const { code, stderr } = await machine.run(['sandbox', 'reset', '--yes', '--data', directory]);
    if (code !== 0) throw new Error(`the reset ended with ${code}: ${stderr}`);
  }

  try {
    const accounts = (await openAccounts(directory, 12)).map((account) => ({
      ...account,
      opening: openingBalance,
    }));
    await server.start();
    const maker = taskMaker(accounts.length, random);
    customers = startCustomers({
      count: options.customers,
      next: maker.next,
      url: () => server.url,
      apiKey: (project) => accounts[project]?.keys[0] ?? '',
    });
    let latest = 0;
    for (let round = 0; round < options.resets; round += 1) {
      await sleep(100 + random() * 300);
      latest = performance.now();
      await reset();
    }
    await sleep(200);
    const acknowledged = await customers.finish();
    const since = acknowledged.filter(({ at }) => at >= latest);
    const repeated = await Promise.all(since.map((one) => repeat(server.url, accounts, one)));
    await server.end('SIGTERM');
    return {
      sends: acknowledged.length,
      ...(await audit(directory, accounts, repeated)),
    };
  } finally {
    customers?.dismiss();
    await server.end('SIGKILL');
    machine.remove();
  }
}

/** The same send with its key: new where it was before the reset, else the same answer. */
async function repeat(
  url: string,
  accounts: readonly Account[],
  { task }: Acknowledgement,
): Promise<Acknowledgement> {
  const apiKey = accounts[task.project]?.keys[0] ?? '';
  for (;;) {
    const reply = await attempt(url, apiKey, task, task.idempotencyKey);
    const at = performance.now();
    if (reply !== null && isFinal(reply, task)) return { task, status: reply.status, body: reply.body, at };
    await sleep(100);
  }
}
