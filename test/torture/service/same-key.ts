import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { audit, type Findings, openAccounts } from './books.js';
import { attempt, isFinal, type Reply } from './customers.js';
import { type Server, scripted } from './server.js';
import type { Break } from './service-main.js';
import { type Acknowledgement, type Task, taskMaker } from './tasks.js';

export interface SameKeyResult extends Findings {
  sends: number;
  /** Keys whose clients did not all get one answer, or of which not exactly one got it as the first. */
  unequal: number;
}

/** What a client does: a repeat that waited too long for the first is asked again. */
async function answered(url: string, apiKey: string, task: Task): Promise<Reply> {
  for (let tries = 0; tries < 500; tries += 1) {
    const reply = await attempt(url, apiKey, task, task.idempotencyKey);
    if (reply !== null && isFinal(reply, task)) return reply;
    await sleep(20);
  }
  throw new Error(`no final answer to ${task.idempotencyKey}`);
}

/** Every client sends every key at the same time, with one of two API keys, to one of two services on one folder. */
export async function playSameKeys(options: {
  seed: number;
  clients: number;
  keys: number;
  service: Break;
}): Promise<SameKeyResult> {
  const random = seededRandom(options.seed);
  const machine = new Machine();
  const directory = join(machine.home, 'service');
  const servers: Server[] = [];
  try {
    const accounts = await openAccounts(directory, 1, 2);
    for (let count = 0; count < 2; count += 1) {
      const server = await scripted(machine, directory, options.service);
      servers.push(server);
      await server.start();
    }
    const maker = taskMaker(1, random, 4);
    const acknowledged: Acknowledgement[] = [];
    let unequal = 0;

    async function playKey(): Promise<void> {
      const task = maker.next();
      const replies = await Promise.all(
        Array.from({ length: options.clients }, (_, client) => {
          const url = servers[client % 2]?.url ?? '';
          const apiKey = accounts[0]?.keys[Math.floor(client / 2) % 2] ?? '';
          return answered(url, apiKey, task);
        }),
      );
      const answers = new Set(replies.map(({ status, body }) => `${status} ${JSON.stringify(body)}`));
      const firsts = replies.filter(({ replayed }) => !replayed).length;
      if (answers.size !== 1 || firsts !== 1) unequal += 1;
      const [first] = replies;
      const at = performance.now();
      if (first) acknowledged.push({ task, status: first.status, body: first.body, at });
    }

    let left = options.keys;
    async function play(): Promise<void> {
      while (left > 0) {
        left -= 1;
        await playKey();
      }
    }
    await Promise.all([play(), play(), play(), play()]);
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    return {
      sends: acknowledged.length,
      unequal,
      ...(await audit(directory, accounts, acknowledged)),
    };
  } finally {
    await Promise.all(servers.map((server) => server.end('SIGKILL')));
    machine.remove();
  }
}
