/** Upper bounds of the buckets, in seconds: quick answers of a store to slow carriers. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A metric with its series, each named by its labels: `channel="sms",status="sent"`. */
export interface Family {
  write(): string;
}

const head = (name: string, type: string, help: string) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

const labelled = (name: string, labels: string) => (labels === '' ? name : `${name}{${labels}}`);

export class Counter implements Family {
  readonly #name: string;
  readonly #help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: string, count = 1): void {
    this.#values.set(labels, (this.#values.get(labels) ?? 0) + count);
  }

  write(): string {
    return writeSeries(this.#name, 'counter', this.#help, [...this.#values]);
  }
}

/** All series of one metric, as Prometheus reads them. */
export function writeSeries(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  series: readonly (readonly [labels: string, value: number])[],
): string {
  return (
    head(name, type, help) + series.map(([labels, value]) => `${labelled(name, labels)} ${value}\n`).join('')
  );
}

interface Series {
  /** Not summed up yet. */
  counts: number[];
  count: number;
  sum: number;
}

export class Histogram implements Family {
  readonly #name: string;
  readonly #help: string;
  readonly #series = new Map<string, Series>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  /** Shows a series before its first value. */
  begin(labels: string): void {
    this.#seriesOf(labels);
  }

  observe(labels: string, milliseconds: number): void {
    const series = this.#seriesOf(labels);
    const seconds = milliseconds / 1_000;
    series.count += 1;
    series.sum += seconds;
    const bucket = bounds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
  }

  #seriesOf(labels: string): Series {
    let series = this.#series.get(labels);
    if (series === undefined) {
      series = { counts: bounds.map(() => 0), count: 0, sum: 0 };
      this.#series.set(labels, series);
    }
    return series;
  }

  write(): string {
    const lines = [...this.#series].map((one) => this.#lines(...one));
    return head(this.#name, 'histogram', this.#help) + lines.join('');
  }

  #lines(labels: string, { counts, count, sum }: Series): string {
    const bucket = (bound: number | string, value: number) => {
      const all = [...(labels === '' ? [] : [labels]), `le="${bound}"`].join(',');
      return `${labelled(`${this.#name}_bucket`, all)} ${value}\n`;
    };
    let below = 0;
    const buckets = bounds.map((bound, index) => {
      below += counts[index] ?? 0;
      return bucket(bound, below);
    });
    const total = [
      `${labelled(`${this.#name}_sum`, labels)} ${sum}\n`,
      `${labelled(`${this.#name}_count`, labels)} ${count}\n`,
    ];
    return [...buckets, bucket('+Inf', count), ...total].join('');
  }
}

/** The value of a label between quotes. */
export const quotedLabel = (value: string): string =>
  value.replace(/[\\"\n]/g, (one) => (one === '\n' ? '\\n' : `\\${one}`));
