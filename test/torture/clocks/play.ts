import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Machine, outcomeOf, root } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { playControl } from '../controls.js';
import { startFaultProxy } from '../fault-proxy.js';
import { recipients } from '../people.js';
import { playRound } from '../round.js';
import type { Played } from '../row.js';
import { ServiceProcess } from '../service-process.js';

/** What the clock of the command says: days before or after the true time, or another each second. */
const clocks = ['-2', '2', 'step'] as const;
type Setting = (typeof clocks)[number] | '0';

/** A machine whose clock is set; the state folder is that of the machine it was before. */
class SetMachine extends Machine {
  clock: Setting = '0';

  override environment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const NODE_OPTIONS = `--require ${join(root, 'test/torture/clocks/set-clock.cjs')}`;
    return { ...super.environment(extra), NODE_OPTIONS, URTUU_CLOCK: this.clock };
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
      measured: `${times.length} recipients, ${kills * clocks.length} kills, clocks ${clocks.join(', ')}`,
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
  return endsLate(child, lockedOutAfter);
}

async function endsLate(child: ReturnType<typeof spawn>, milliseconds: number): Promise<boolean> {
  const ended = outcomeOf(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds);
  const { code } = await ended;
  clearTimeout(timer);
  return code !== 0;
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
    let lockedOut = 0;
    for (const clock of ['2', '0'] as const) {
      machine.clock = clock;
      const child = spawn(process.execPath, ['-e', wallLimiter, file], { env: machine.environment() });
      if (await endsLate(child, 3_000)) lockedOut += 1;
    }
    return { measured: '2 processes', found: `${lockedOut} locked out`, wrong: lockedOut };
  } finally {
    machine.remove();
  }
}

/** The control for what is sent twice: a sender whose keys hold the time, killed in the same way. */
export async function playTimedKeys(seed: number, { recipients: count, kills }: ClockSizes): Promise<Played> {
  const random = seededRandom(seed);
  const machine = new SetMachine();
  machine.clock = 'step';
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
