import { join } from 'node:path';
import { Machine } from '../support/binary.js';
import { seededRandom } from '../support/random.js';
import { playControl } from './controls.js';
import { startFaultProxy } from './fault-proxy.js';
import { recipients } from './people.js';
import { playRound } from './round.js';
import { ServiceProcess } from './service-process.js';

export interface TortureOptions {
  seed: number;
  recipients: number;
  kills: number;
  rounds: number;
  /** Share of requests that something happens to. */
  faults: number;
  rate: number;
  controlRecipients: number;
}

export interface Count {
  recipients: number;
  lost: number;
  twice: number;
}

export interface TortureResult {
  kills: number;
  requests: number;
  faults: number;
  engine: Count;
  randomKeys: Count;
  contentKeys: Count;
}

/** Kills real processes of the real command against a real service, and counts what arrived. */
export async function tortureBulk(options: TortureOptions): Promise<TortureResult> {
  const random = seededRandom(options.seed);
  const machine = new Machine();
  const other = new Machine();
  const service = new ServiceProcess(machine, join(machine.home, 'service'));
  await service.create(1_000_000_000);
  const proxy = await startFaultProxy(() => service.port, options.faults, random);
  const common = { service, proxy, random };
  try {
    const perRound = Math.ceil(options.recipients / options.rounds);
    const killsOf = (round: number) =>
      Math.floor(((round + 1) * options.kills) / options.rounds) -
      Math.floor((round * options.kills) / options.rounds);
    const all = recipients(0, perRound * options.rounds);
    for (let round = 0; round < options.rounds; round += 1) {
      await playRound({
        ...common,
        // Every fifth job is sent from two machines at once.
        machines: round % 5 === 4 ? [machine, other] : [machine],
        job: `round-${round}`,
        numbers: all.slice(round * perRound, (round + 1) * perRound),
        kills: killsOf(round),
        longestLife: 2_000,
        rate: options.rate,
      });
    }
    const engineFaults = { ...proxy.counts };
    const size = options.controlRecipients;
    const control = (at: number) => recipients(all.length + at * size, size);
    const kills = Math.min(12, options.kills);
    await playControl({ ...common, machine, kills, numbers: control(0) }, 'random');
    await playControl({ ...common, machine, kills, numbers: control(1) }, 'content');
    const got = await service.deliveries();
    return {
      kills: options.kills,
      requests: engineFaults.requests,
      faults: engineFaults.faults,
      engine: countOf(all, got),
      randomKeys: countOf(control(0), got),
      contentKeys: countOf(control(1), got),
    };
  } finally {
    await proxy.close();
    await service.kill();
    machine.remove();
    other.remove();
  }
}

function countOf(numbers: readonly string[], got: ReadonlyMap<string, number>): Count {
  const times = numbers.map((number) => got.get(number) ?? 0);
  return {
    recipients: numbers.length,
    lost: times.filter((count) => count === 0).length,
    twice: times.filter((count) => count > 1).length,
  };
}
