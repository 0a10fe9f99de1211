import { median, type Row } from '../pairs.js';

export interface Cost {
  /** Milliseconds of one, user and system. */
  cpu: number;
  /** How many a second. */
  rate: number;
}

/** Our cost to theirs: medians of the ratios of each pair, and of each side by itself. */
export interface Compared extends Cost {
  ours: Cost;
  theirs: Cost;
}

/** In turn, as `inPairs`; the first pair warms up and does not count. */
export async function sideBySide(
  ours: () => Promise<Cost>,
  theirs: () => Promise<Cost>,
  pairs: number,
): Promise<Compared> {
  const measured: { ours: Cost; theirs: Cost }[] = [];
  for (let pair = -1; pair < pairs; pair += 1) {
    const both = { ours: await ours(), theirs: await theirs() };
    if (pair >= 0) measured.push(both);
  }
  const middle = (cost: (both: { ours: Cost; theirs: Cost }) => Cost): Cost => ({
    cpu: median(measured.map((both) => cost(both).cpu)),
    rate: median(measured.map((both) => cost(both).rate)),
  });
  return {
    ...middle(({ ours, theirs }) => ({ cpu: ours.cpu / theirs.cpu, rate: ours.rate / theirs.rate })),
    ours: middle(({ ours }) => ours),
    theirs: middle(({ theirs }) => theirs),
  };
}

/** Behind where it takes more cpu, or makes fewer a second; a twentieth is noise. */
export function rowOf(what: string, against: string, { ours, theirs, cpu, rate }: Compared): Row {
  const written = (cost: Cost) =>
    `${cost.cpu < 10 ? `${(cost.cpu * 1_000).toFixed(0)} us` : `${cost.cpu.toFixed(0)} ms`}, ${cost.rate.toFixed(cost.rate < 100 ? 1 : 0)}/s`;
  return {
    what,
    against: `${against}: ${written(theirs)}`,
    goal: 'cpu 1, rate 1',
    measured: `cpu ${cpu.toFixed(2)}, rate ${rate.toFixed(2)} (${written(ours)})`,
    met: cpu <= 1.05 && rate >= 0.95,
  };
}
