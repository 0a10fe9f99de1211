import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaseTime } from '../../../src/service/delivery/delivery.js';
import { Machine } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { audit, type Findings, openAccounts } from './books.js';
import { startCustomers } from './customers.js';
import { type Server, scripted } from './server.js';
import type { Break } from './service-main.js';
import { taskMaker } from './tasks.js';

export interface PauseResult extends Findings {
  pauses: number;
  sends: number;
}

/**
 * Stops one of two services on one folder in the middle of its work, for longer than its leases, and lets it
 * go on: what it was about to hand over, the other one has handed over meanwhile.
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
  try {
    const accounts = await openAccounts(directory, 1);
    for (let count = 0; count < 2; count += 1) {
      const server = await scripted(machine, directory, options.service);
      servers.push(server);
      await server.start();
    }
    const maker = taskMaker(1, random, 200);
    let asked = 0;
    const customers = startCustomers({
      count: 32,
      next: maker.next,
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
      await sleep(leaseTime + 1_500);
      server?.signal('SIGCONT');
    }
    const acknowledged = await customers.finish();
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    return {
      pauses: options.pauses,
      sends: acknowledged.length,
      ...(await audit(directory, accounts, acknowledged)),
    };
  } finally {
    await Promise.all(servers.map((server) => server.end('SIGKILL')));
    machine.remove();
  }
}
