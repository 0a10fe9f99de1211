import { counted } from '../../text/wording.js';

interface Charged {
  base_url: string;
  /** Null if this machine does not know it. */
  credits: number | null;
}

/** The cost of sends for each service, because credits of the sandbox are not real. */
export class CreditSums {
  count = 0;
  /** Whether all rows were passed on: a closed pipe ends them early. */
  isWhole = false;
  #unknown = 0;
  readonly #credits = new Map<string, number>();

  add({ base_url: url, credits }: Charged): void {
    this.count += 1;
    if (credits === null) this.#unknown += 1;
    else this.#credits.set(url, (this.#credits.get(url) ?? 0) + credits);
  }

  /** Adds up the rows that it passes on. */
  async *of<Row extends Charged>(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
    for await (const row of rows) {
      this.add(row);
      yield row;
    }
    this.isWhole = true;
  }

  /** `2,340 credits`, `2,340 credits at https://..., 60 credits in the sandbox` */
  get text(): string {
    const sums = [...this.#credits].map(([url, credits]) => {
      const where = /^sandbox:?$/.test(url) ? 'in the sandbox' : `at ${url}`;
      return `${counted(credits, 'credit')}${this.#credits.size > 1 ? ` ${where}` : ''}`;
    });
    const unknown = this.#unknown === 0 ? [] : [`${counted(this.#unknown, 'send')} of unknown price`];
    return [...(sums.length > 0 ? [sums.join(', ')] : []), ...unknown].join(' and ');
  }
}
