import { setTimeout as sleep } from 'node:timers/promises';
import { type Machine, type Outcome, outcomeOf } from '../../support/binary.js';
import type { Cluster } from '../../support/postgres/cluster.js';
import type { PostgresProxy } from '../../support/postgres/proxy.js';

/** What a move is made of, and what can happen to it. */
export interface Setting {
  machine: Machine;
  cluster: Cluster;
  /** Before the database that is filled. */
  proxy: PostgresProxy;
  directory: string;
  secretFile: string;
  random: () => number;
  /** Milliseconds within which a mover is killed. */
  longestLife: number;
  /** Statements within which a mover is killed, or cut off. */
  mostStatements: number;
}

/** The exits of movers that nobody kills: done, refused beside another one, and a database that went away. */
const honest = new Set([0, 11, 13]);

/** Milliseconds after which a mover that goes on is taken to hang. */
const longestMove = 60_000;

export interface Ended {
  isDone: boolean;
  /** Exits that a mover must not have. */
  strange: string[];
}

function start({ machine, directory, proxy, secretFile }: Setting, more: readonly string[] = []) {
  const line = ['service', 'move', '--data', directory, '--database', proxy.url];
  const child = machine.start([...line, '--secret-file', secretFile, '--yes', ...more]);
  child.stdin?.end();
  return { child, outcome: outcomeOf(child) };
}

const strangeOf = ({ code, signal, stderr }: Outcome): string[] =>
  signal === 'SIGKILL' || (honest.has(code ?? -1) && !/\n {4}at /.test(stderr))
    ? []
    : [`${code} ${stderr.trim()}`];

/** Runs a mover and does something to it, or to the database, while it runs. */
async function interrupted(
  setting: Setting,
  trouble: (kill: () => void) => Promise<void>,
  more: readonly string[] = [],
): Promise<Ended> {
  const { child, outcome } = start(setting, more);
  await Promise.race([trouble(() => child.kill('SIGKILL')), outcome]);
  const isOver = await Promise.race([outcome.then(() => true), sleep(longestMove, false)]);
  if (!isOver) child.kill('SIGKILL');
  const ended = await outcome;
  setting.proxy.cuts = null;
  return { isDone: ended.code === 0, strange: isOver ? strangeOf(ended) : ['it never ended'] };
}

const someTime = ({ random, longestLife }: Setting) => sleep(random() * longestLife);

/** At a statement that is chance; never, where the mover says fewer. */
function atStatement({ proxy, random, mostStatements }: Setting, act: () => 'before' | 'after' | null) {
  let left = 1 + Math.floor(random() * mostStatements);
  return new Promise<void>((resolve) => {
    proxy.cuts = () => {
      left -= 1;
      if (left !== 0) return null;
      resolve();
      return act();
    };
  });
}

const troubles = {
  killed: (setting: Setting) =>
    interrupted(setting, async (kill) => {
      await someTime(setting);
      kill();
    }),
  killedAtStatement: (setting: Setting) =>
    interrupted(setting, (kill) =>
      atStatement(setting, () => {
        kill();
        return null;
      }),
    ),
  cutOff: (setting: Setting) =>
    interrupted(setting, () => atStatement(setting, () => (setting.random() < 0.5 ? 'before' : 'after'))),
  async databaseCrashed(setting: Setting): Promise<Ended> {
    const { outcome } = start(setting);
    await Promise.race([someTime(setting), outcome]);
    await setting.cluster.stop('immediate');
    await setting.cluster.start();
    const ended = await outcome;
    return { isDone: ended.code === 0, strange: strangeOf(ended) };
  },
  async twoAtOnce(setting: Setting): Promise<Ended> {
    const both = [start(setting), start(setting)];
    await Promise.race([someTime(setting), Promise.all(both.map(({ outcome }) => outcome))]);
    for (const { child } of both) child.kill('SIGKILL');
    const ended = await Promise.all(both.map(({ outcome }) => outcome));
    return {
      isDone: ended.some(({ code }) => code === 0),
      strange: ended.flatMap((one) => strangeOf(one)),
    };
  },
  /** Given up, or cut short while it is; what it ends with does not mean that anything was moved. */
  async abandoned(setting: Setting): Promise<Ended> {
    const isKilled = setting.random() < 0.5;
    const { strange } = await interrupted(
      setting,
      async (kill) => {
        await someTime(setting);
        if (isKilled) kill();
      },
      ['--abandon'],
    );
    return { isDone: false, strange };
  },
} satisfies Record<string, (setting: Setting) => Promise<Ended>>;

const usual = ['killed', 'killedAtStatement', 'cutOff', 'twoAtOnce', 'databaseCrashed'] as const;

/** Most of the movers are killed; now and then the move is given up. */
export function anyTrouble(setting: Setting): Promise<Ended> {
  const chance = setting.random();
  if (chance < 0.12) return troubles.abandoned(setting);
  if (chance < 0.5) return troubles.killed(setting);
  return troubles[usual[Math.floor(setting.random() * usual.length)] ?? 'killed'](setting);
}

/** Nobody interrupts it. Throws where it does not end well. */
export async function movedWhole(setting: Setting): Promise<Ended> {
  const { code, stderr } = await start(setting).outcome;
  if (code !== 0) throw new Error(`a move that nobody interrupted ended with ${code}: ${stderr}`);
  return { isDone: true, strange: [] };
}
