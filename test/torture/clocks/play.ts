import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Machine, type Outcome, outcomeOf } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { playControl } from '../controls.js';
import { startFaultProxy } from '../fault-proxy.js';
import { recipients } from '../people.js';
import { playRound } from '../round.js';
import type { Played } from '../row.js';
import { ServiceProcess } from '../service-process.js';
import { wrongClock } from '../wrong-clock.js';

const twoDays = '172800000';
/** What the clock of the command is wrong by, in milliseconds; `steps` is set every second. */
const clocks = [`-${twoDays}`, twoDays, 'steps'] as const;
type Setting = (typeof clocks)[number] | '0';

/** A machine whose clock is set; the state folder is that of the machine it was before. */
class SetMachine extends Machine {
  clock: Setting = '0';

  override environment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    return { ...super.environment(extra), ...wrongClock(this.clock) };
  }
}

export interface ClockSizes {
  recipients: number;
  kills: number;
}

/** Longer than any command here takes on a busy machine, and much shorter than a step of the clock. */
const lockedOutAfter = 20_000;

/** Jobs killed and resumed while the clock is set, and single commands after each step. */
export async function playClocks(seed: number, { recipients: count, kills }: ClockSizes): Promise<Played> {
  const random = seededRandom(seed);
  const machine = new SetMachine();
  const server = new Machine();
  const service = new ServiceProcess(server, join(server.home, 'service'));
  await service.create(1_000_000_000);
  const proxy = await startFaultProxy(() => service.port, 0.1, random);
  let lockedOut = 0;
  try {
    for (const [at, clock] of clocks.entries()) {
      machine.clock = clock;
      const numbers = recipients(at * count, count);
      const round = { machines: [machine], service, proxy, random, job: `clock-${at}`, numbers };
      await playRound({ ...round, kills, longestLife: 2_000, rate: 100 });
      for (const next of ['0', clock, '0'] as const) {
        machine.clock = next;
        const env = { URTUU_API_KEY: service.key, URTUU_BASE_URL: `http://127.0.0.1:${service.port}/v1` };
        const one = recipients(3_000_000 + at * 10 + Number(next === '0'), 1);
        if (await isLockedOut(machine, ['balance'], env)) lockedOut += 1;
        if (await isLockedOut(machine, ['sms', 'send', one[0] ?? '', 'Hello'], env)) lockedOut += 1;
      }
    }
    const got = await service.deliveries();
    const times = recipients(0, count * clocks.length).map((number) => got.get(number) ?? 0);
    const lost = times.filter((received) => received === 0).length;
    const twice = times.filter((received) => received > 1).length;
    return {
      measured: `${times.length} recipients, ${kills * clocks.length} kills, clocks -2 d, +2 d, set every second`,
      found: `${lost} lost, ${twice} twice, ${lockedOut} locked out`,
      wrong: lost + twice + lockedOut,
    };
  } finally {
    await proxy.close();
    await service.kill();
    machine.remove();
    server.remove();
  }
}

async function isLockedOut(machine: Machine, words: string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  const child = machine.start(words, { env });
  child.stdin?.end();
  return (await endOf(child, lockedOutAfter)).code !== 0;
}

/** Kills it after so many milliseconds. */
async function endOf(child: ReturnType<typeof spawn>, milliseconds: number): Promise<Outcome> {
  const ended = outcomeOf(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds);
  const outcome = await ended;
  clearTimeout(timer);
  return outcome;
}

/** A limiter that keeps the time of its next request by the clock that people set. */
const wallLimiter = `
const fs = require('node:fs');
const file = process.argv[1];
const next = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0;
setTimeout(() => fs.writeFileSync(file, String(Date.now() + 50)), Math.min(2 ** 31 - 1, Math.max(0, next - Date.now())));
`;

/** The control for the lock-out: once two days ahead, then at the true time. */
export async function playWallLimiter(): Promise<Played> {
  const machine = new SetMachine();
  try {
    const file = join(machine.home, 'next');
    const limit = (clock: Setting, milliseconds: number) => {
      machine.clock = clock;
      const child = spawn(process.execPath, ['-e', wallLimiter, file], { env: machine.environment() });
      return endOf(child, milliseconds);
    };
    const first = await limit(twoDays, lockedOutAfter);
    if (first.code !== 0) throw new Error(`the limiter ended with ${first.code}: ${first.stderr}`);
    const { signal } = await limit('0', 3_000);
    const lockedOut = signal === 'SIGKILL' ? 1 : 0;
    return { measured: '2 processes', found: `${lockedOut} locked out`, wrong: lockedOut };
  } finally {
    machine.remove();
  }
}

/** The control for what is sent twice: a sender whose keys hold the time, killed in the same way. */
export async function playTimedKeys(seed: number, { recipients: count, kills }: ClockSizes): Promise<Played> {
  const random = seededRandom(seed);
  const machine = new SetMachine();
  machine.clock = 'steps';
  const server = new Machine();
  const service = new ServiceProcess(server, join(server.home, 'service'));
  await service.create(1_000_000_000);
  const proxy = await startFaultProxy(() => service.port, 0.2, random);
  try {
    const numbers = recipients(0, count);
    await playControl({ machine, service, proxy, random, numbers, kills: 2 * kills }, 'time');
    const got = await service.deliveries();
    const twice = numbers.filter((number) => (got.get(number) ?? 0) > 1).length;
    return { measured: `${count} recipients`, found: `${twice} twice`, wrong: twice };
  } finally {
    await proxy.close();
    await service.kill();
    machine.remove();
    server.remove();
  }
}
