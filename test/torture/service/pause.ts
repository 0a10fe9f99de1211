import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { audit, type Findings, openAccounts } from './books.js';
import { type Customers, startCustomers } from './customers.js';
import { leaseMs } from './lease.js';
import { type Server, scripted } from './server.js';
import type { Break } from './service-main.js';
import { type Task, taskMaker } from './tasks.js';

export interface PauseResult extends Findings {
  sends: number;
}

/**
 * Stops one of two services on one folder in the middle of its work, for longer than its leases, and lets it
 * go on: what it was about to submit, the other one has submitted meanwhile.
 */
export async function playPauses(options: {
  seed: number;
  pauses: number;
  service: Break;
}): Promise<PauseResult> {
  const random = seededRandom(options.seed);
  const machine = new Machine();
  const directory = join(machine.home, 'service');
  const servers: Server[] = [];
  let customers: Customers | undefined;
  try {
    const accounts = await openAccounts(directory, 1);
    for (let count = 0; count < 2; count += 1) {
      const server = await scripted(machine, directory, options.service);
      servers.push(server);
      await server.start();
    }
    const maker = taskMaker(1, random, 200);
    let made = 0;
    const next = () => {
      made += 1;
      return made % 4 === 0 ? slowEmails(made) : maker.next();
    };
    let asked = 0;
    customers = startCustomers({
      count: 32,
      next,
      url: () => {
        asked += 1;
        return servers[asked % 2]?.url ?? '';
      },
      apiKey: () => accounts[0]?.keys[0] ?? '',
    });
    for (let pause = 0; pause < options.pauses; pause += 1) {
      const server = servers[pause % 2];
      await sleep(200 + random() * 300);
      server?.signal('SIGSTOP');
      await sleep(leaseMs + 1_500);
      server?.signal('SIGCONT');
    }
    const acknowledged = await customers.finish();
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    return {
      sends: acknowledged.length,
      ...(await audit(directory, accounts, acknowledged)),
    };
  } finally {
    customers?.dismiss();
    await Promise.all(servers.map((server) => server.end('SIGKILL')));
    machine.remove();
  }
}

/** Emails that are on their way to the operator for 2 seconds, so that a process stops in the middle of them. */
function slowEmails(number: number): Task {
  const arrive = 5;
  const to = Array.from({ length: arrive }, (_, index) => `fault-2s@d${number}-${index}.mn`);
  return {
    path: '/email/bulk',
    body: { to, subject: 'News', text: 'Hello' },
    project: 0,
    idempotencyKey: `slow-${number}`,
    arrive,
    refused: 0,
    cost: arrive * 2,
  };
}
