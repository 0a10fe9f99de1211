/** What one run cost, in the unit of the row: milliseconds of cpu, or a rate. */
export type Measure = () => Promise<number>;

export interface Comparison {
  /** Median of the ratios of each pair: A to B. */
  ratio: number;
  /** Medians of the sides by themselves. */
  a: number;
  b: number;
}

/**
 * Measures A and B in turn, A B A B, and takes the ratio pair by pair: the speed of the machine drifts, and
 * drifts for both. The first pair warms up and does not count.
 */
export async function inPairs(a: Measure, b: Measure, pairs: number): Promise<Comparison> {
  const measured: { a: number; b: number }[] = [];
  for (let pair = -1; pair < pairs; pair += 1) {
    const costs = { a: await a(), b: await b() };
    if (pair >= 0) measured.push(costs);
  }
  return {
    ratio: median(measured.map((pair) => pair.a / pair.b)),
    a: median(measured.map((pair) => pair.a)),
    b: median(measured.map((pair) => pair.b)),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new RangeError('a median of nothing');
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** One line of the table. */
export interface Row {
  what: string;
  against: string;
  goal: string;
  measured: string;
  met: boolean;
}

/** The rows as a Markdown table, which reads as well on a terminal. */
export function tableOf(rows: readonly Row[]): string {
  const cells = [
    ['what', 'against', 'goal', 'measured', ''],
    ...rows.map(({ what, against, goal, measured, met }) => [
      what,
      against,
      goal,
      measured,
      met ? '' : 'missed',
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(3, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const lines = cells.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return `${lines.join('\n')}\n`;
}
