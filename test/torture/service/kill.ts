import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { audit, type Findings, openAccounts } from './books.js';
import { type Customers, startCustomers } from './customers.js';
import { scripted, served } from './server.js';
import type { Break } from './service-main.js';
import { taskMaker } from './tasks.js';

export interface KillOptions {
  seed: number;
  kills: number;
  /** How many send at once. */
  customers: number;
  /** `urtuu serve` itself, or a service that is broken on purpose. */
  service: 'urtuu serve' | Break;
  /** The control of the other side: customers who repeat with a new key. */
  forgetKeys?: boolean;
}

export interface KillResult extends Findings {
  kills: number;
  sends: number;
  messages: number;
}

/** Kills the service under load at random moments, again and again, and then compares its books. */
export async function playKills({
  seed,
  kills,
  customers: count,
  service,
  forgetKeys,
}: KillOptions): Promise<KillResult> {
  const random = seededRandom(seed);
  const machine = new Machine();
  const directory = join(machine.home, 'service');
  const server =
    service === 'urtuu serve' ? served(machine, directory) : await scripted(machine, directory, service);
  let customers: Customers | undefined;
  try {
    const accounts = await openAccounts(directory, 12);
    await server.start();
    const maker = taskMaker(accounts.length, random);
    customers = startCustomers({
      count,
      next: maker.next,
      url: () => server.url,
      apiKey: (project) => accounts[project]?.keys[0] ?? '',
      forgetKeys: forgetKeys ?? false,
    });
    for (let kill = 0; kill < kills; kill += 1) {
      await sleep(100 + random() * 500);
      await server.end('SIGKILL');
      await server.start();
    }
    const acknowledged = await customers.finish();
    await server.end('SIGTERM');
    return {
      kills,
      sends: acknowledged.length,
      messages: acknowledged.reduce((sum, { task }) => sum + task.arrive, 0),
      ...(await audit(directory, accounts, acknowledged)),
    };
  } finally {
    customers?.dismiss();
    await server.end('SIGKILL');
    machine.remove();
  }
}
