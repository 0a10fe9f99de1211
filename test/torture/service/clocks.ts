import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { wrongClock } from '../wrong-clock.js';
import { audit, type Findings, openAccounts } from './books.js';
import { type Customers, startCustomers } from './customers.js';
import { scripted, served } from './server.js';
import { type Acknowledgement, dueOverTime, lostOnce, type Task, taskMaker } from './tasks.js';

const twoDays = 172_800_000;
/** What the clock is wrong by, one run of the service after the other. */
const clocks = [twoDays, -twoDays, 'steps', 0] as const;

const customerCount = 6;
/** Seconds in which somebody can send who is not locked out. */
const patience = 10;

export interface ClocksResult extends Findings {
  sends: number;
  runs: number;
  /** Runs in which nobody could send; half of the seconds are enough where the clock is set every second. */
  lockedOut: number;
}

export interface ClocksOptions {
  seed: number;
  /** Times that all the clocks are gone through. */
  rounds: number;
  /** Seconds of a run whose clock is set every second; the others take a third of it. */
  seconds: number;
  service: 'urtuu serve' | 'measures_on_the_system_clock';
}

/** Runs the service with a clock that is wrong otherwise each time, kills it in between, and compares its books. */
export async function playClocks({ seed, rounds, seconds, service }: ClocksOptions): Promise<ClocksResult> {
  const random = seededRandom(seed);
  const machine = new Machine();
  const directory = join(machine.home, 'service');
  const env = wrongClock(0);
  const server =
    service === 'urtuu serve'
      ? served(machine, directory, env)
      : await scripted(machine, directory, service, env);
  let customers: Customers | undefined;
  let runs = 0;
  let lockedOut = 0;
  try {
    const accounts = await openAccounts(directory, customerCount);
    const maker = taskMaker(accounts.length, random);
    await server.start();
    const begun = new Map<Task, number>();
    customers = startCustomers({
      count: customerCount,
      next() {
        const task = maker.next();
        begun.set(task, performance.now());
        return task;
      },
      url: () => server.url,
      apiKey: (project) => accounts[project]?.keys[0] ?? '',
    });
    const setForwardAt: number[] = [];
    let last: (typeof clocks)[number] = 0;
    for (const clock of Array.from({ length: rounds }, () => clocks).flat()) {
      await server.end(random() < 0.7 ? 'SIGKILL' : 'SIGTERM');
      if (clock === 'steps' || last === 'steps' || clock > last) setForwardAt.push(performance.now());
      last = clock;
      Object.assign(env, wrongClock(clock));
      await server.start();
      const isStepped = clock === 'steps';
      const length = isStepped ? seconds : Math.ceil(seconds / 3);
      let busy = 0;
      let idle = 0;
      await sleep(1_000 - (Date.now() % 1_000));
      // A busy machine is slow, and who is locked out stays so.
      const isInDoubt = () => !isStepped && busy + lockedOut === 0 && idle < patience;
      while (busy + idle < length || isInDoubt()) {
        // Whoever begins the next task has had the one before acknowledged; each had one under way.
        const before = begun.size;
        await sleep(1_000 - (Date.now() % 1_000));
        if (begun.size - before <= customerCount) idle += 1;
        else busy += 1;
      }
      runs += 1;
      if (isStepped ? idle >= busy : busy === 0) lockedOut += 1;
    }
    await server.end('SIGTERM');
    Object.assign(env, wrongClock(0));
    await server.start();
    // Found after its 15 s by the clock, a single SMS is submitted once more: where just that is lost, it fails.
    const isOverTime = ({ task, at: end }: Acknowledgement) =>
      task.body.to === lostOnce && setForwardAt.some((at) => (begun.get(task) ?? at) < at && at < end);
    const acknowledged = (await customers.finish()).map((one) => (isOverTime(one) ? dueOverTime(one) : one));
    await server.end('SIGTERM');
    return {
      sends: acknowledged.length,
      runs,
      lockedOut,
      ...(await audit(directory, accounts, acknowledged)),
    };
  } finally {
    customers?.dismiss();
    await server.end('SIGKILL');
    machine.remove();
  }
}
