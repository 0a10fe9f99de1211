import { fork } from 'node:child_process';
import { once } from 'node:events';

/** One piece of one tree: milliseconds of cpu, user and system, each time it is asked. */
export interface Side {
  measure(): Promise<number>;
  close(): Promise<void>;
}

/** A row of both trees: opens a side of its own for each pair. */
export interface Comparison {
  what: string;
  pairs: number;
  /** Slices of both sides in turn that make a pair; as many as `warm` before them do not count. */
  slices: number;
  warm: number;
  open(tree: string): Promise<Side>;
}

/** `worker.ts`, bundled, with a kind of work, the bundle that does it, and a database if it has one. */
export async function workerSide(worker: string, ...args: string[]): Promise<Side> {
  const child = fork(worker, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const closed = once(child, 'close');
  const ended = closed.then(([code]) => {
    throw new Error(`the worker ended with ${code}`);
  });
  ended.catch(() => {});
  return {
    async measure() {
      const answered = once(child, 'message');
      child.send('slice');
      const [microseconds] = await Promise.race([answered, ended]);
      return microseconds / 1_000;
    },
    async close() {
      child.send('close');
      await closed;
    },
  };
}

/**
 * The ratio of each pair, here to there. Both sides of a pair are fresh and measured in turn, a slice each: the speed of
 * the machine drifts, and drifts for both. A comparison of one pair gives the ratios of its slices.
 */
export async function ratiosOf(
  { pairs, slices, warm, open }: Comparison,
  here: string,
  there: string,
): Promise<{ ratios: number[]; here: number; there: number }> {
  const measured: { here: number; there: number }[][] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const sides = { here: await open(here), there: await open(there) };
    const costs = { here: 0, there: 0 };
    const all: (typeof costs)[] = [];
    for (let slice = -warm; slice < slices; slice += 1) {
      const order = (['here', 'there'] as const).toSorted(() => ((slice + pair) % 2 === 0 ? 1 : -1));
      for (const side of order) costs[side] = await sides[side].measure();
      if (slice >= 0) all.push({ ...costs });
    }
    await sides.here.close();
    await sides.there.close();
    measured.push(all);
  }
  const flat = measured.flat();
  const sum = (all: typeof flat, side: 'here' | 'there') => all.reduce((total, one) => total + one[side], 0);
  const groups = pairs === 1 ? flat.map((one) => [one]) : measured;
  return {
    ratios: groups.map((group) => sum(group, 'here') / sum(group, 'there')),
    here: sum(flat, 'here') / flat.length,
    there: sum(flat, 'there') / flat.length,
  };
}
