import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { audit, type Findings, openAccounts } from './books.js';
import { attempt, codeOf, isFinal } from './customers.js';
import { served } from './server.js';
import { type Acknowledgement, taskMaker } from './tasks.js';

export interface TerminateResult extends Findings {
  sends: number;
  /** Milliseconds the slowest stop took. */
  slowestStop: number;
}

/**
 * Stops `urtuu serve` under load and starts it again. Customers never repeat: what the service has done must
 * have been answered, and what was not answered must not have been done. The control stops it with SIGKILL.
 */
export async function playStops(options: {
  seed: number;
  stops: number;
  signal: 'SIGTERM' | 'SIGKILL';
}): Promise<TerminateResult> {
  const random = seededRandom(options.seed);
  const machine = new Machine();
  const directory = join(machine.home, 'service');
  const server = served(machine, directory);
  try {
    const accounts = await openAccounts(directory, 12);
    const maker = taskMaker(accounts.length, random);
    const acknowledged: Acknowledgement[] = [];
    let slowestStop = 0;

    async function customer(): Promise<void> {
      for (;;) {
        const task = maker.next();
        const apiKey = accounts[task.project]?.keys[0] ?? '';
        const reply = await attempt(server.url, apiKey, task, task.idempotencyKey);
        if (reply === null) return;
        const at = performance.now();
        if (isFinal(reply, task)) acknowledged.push({ task, status: reply.status, body: reply.body, at });
        else if (codeOf(reply) === 'rate_limited') await sleep(100);
      }
    }

    for (let stop = 0; stop < options.stops; stop += 1) {
      await server.start();
      const customers = Promise.all(Array.from({ length: 32 }, customer));
      await sleep(200 + random() * 400);
      slowestStop = Math.max(slowestStop, await server.end(options.signal));
      await customers;
    }
    const findings = await audit(directory, accounts, acknowledged);
    return { sends: acknowledged.length, slowestStop, ...findings };
  } finally {
    await server.end('SIGKILL');
    machine.remove();
  }
}
