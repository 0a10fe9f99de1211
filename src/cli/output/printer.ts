import { CliError, Ended, usageError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Format, GlobalOptions } from '../options.js';
import { painter, wantsColour } from '../terminal/colour.js';
import { safeJson, visibleLines } from '../terminal/sanitise.js';
import type { Sink } from '../terminal/streams.js';
import { masked } from './mask.js';
import type { Column, View } from './view.js';

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** Writes results to standard output, in the format that was asked for. */
export class Printer {
  readonly format: Format;
  readonly mask: boolean;
  readonly #sink: Sink;
  readonly #options: GlobalOptions;
  readonly #colour: boolean;

  constructor(sink: Sink, options: GlobalOptions, env: Readonly<Record<string, string | undefined>>) {
    this.#sink = sink;
    this.#options = options;
    this.format = options.json ? 'json' : (options.output ?? 'table');
    this.mask = options.mask ?? (this.format === 'table' && env.CI !== undefined && env.CI !== 'false');
    this.#colour = this.format === 'table' && wantsColour(sink, env, options.color ?? true);
  }

  /** A program reads the output. */
  get isMachine(): boolean {
    return this.format !== 'table';
  }

  /** Before anything else happens: a wrong `--columns` is refused, one without names is answered. */
  async checkColumns(view: View<never> | undefined): Promise<void> {
    const wanted = this.#options.columns;
    if (wanted === undefined) return;
    if (view === undefined) throw usageError('this command has no columns to choose', 'It prints no table.');
    if (wanted === true) {
      await this.#sink.write(view.columns.map(({ name }) => `${name}\n`).join(''));
      throw new Ended(exits.ok);
    }
    chosen(view.columns, wanted);
  }

  /** A recipient as it may be shown. */
  recipient(to: string): string {
    return this.mask ? masked(to) : to;
  }

  /** One result. */
  async one<Row>(view: View<Row>, row: Row): Promise<void> {
    if (this.format !== 'table') return this.#machine(view, [row], true);
    const { card } = await import('./card.js');
    await this.#sink.write(await card(this.#cardOf(view), row, await this.#style()));
  }

  /** One result that is read from a list, when it comes. */
  async single<Row>(view: View<Row>, rows: Rows<Row>): Promise<void> {
    const { arrived, problem } = await gather(rows);
    for (const row of arrived) await this.one(view, row);
    if (problem !== null) throw problem.error;
  }

  /**
   * A list of results; ndjson, csv and tsv write each as it comes. What has come before the list ends with an
   * error is written before the error goes on. Gives the number of rows of a table.
   */
  async many<Row>(view: View<Row>, rows: Rows<Row>): Promise<number | null> {
    if (this.format !== 'table') {
      await this.#machine(view, rows, false);
      return null;
    }
    const { arrived, problem } = await gather(rows);
    const { table } = await import('./table.js');
    await this.#sink.write(await table(this.#columns(view, false), arrived, await this.#style()));
    if (problem !== null) throw problem.error;
    return arrived.length;
  }

  async #machine<Row>(view: View<Row>, rows: Rows<Row>, single: boolean): Promise<void> {
    const columns = this.#columns(view, true);
    if (this.format === 'ndjson') {
      return this.#each(rows, (row) => `${safeJson(this.#record(view, columns, row))}\n`);
    }
    if (this.format === 'csv' || this.format === 'tsv') {
      const { format } = this;
      const { headerRow, separatedRow } = await import('./separated.js');
      const names = columns.map(({ name }) => name);
      if (this.#options.header ?? true) await this.#sink.write(headerRow(format, names));
      const style = { mask: this.mask, terminal: this.#sink.isTerminal };
      return this.#each(rows, (row) => separatedRow(format, columns, row, style));
    }
    const { arrived, problem } = await gather(rows);
    const records = arrived.map((row) => this.#record(view, columns, row));
    await this.#sink.write(`${safeJson(single ? records[0] : records, 2)}\n`);
    if (problem !== null) throw problem.error;
  }

  /** A text as it is, for commands whose output is one; made safe where a terminal shows it. */
  async text(text: string): Promise<void> {
    await this.#sink.write(this.#sink.isTerminal ? visibleLines(text) : text);
  }

  async #each<Row>(rows: Rows<Row>, line: (row: Row) => string): Promise<void> {
    for await (const row of rows) {
      await this.#sink.write(line(row));
      if (this.#sink.closed) return;
    }
  }

  #cardOf<Row>(view: View<Row>): readonly Column<Row>[] {
    return typeof this.#options.columns === 'string'
      ? this.#columns(view, true)
      : (view.card ?? view.columns);
  }

  #columns<Row>(view: View<Row>, details: boolean): readonly Column<Row>[] {
    const wanted = this.#options.columns;
    if (typeof wanted === 'string') return chosen(view.columns, wanted);
    return details ? view.columns : view.columns.filter(({ detail }) => !detail);
  }

  #record<Row>(view: View<Row>, columns: readonly Column<Row>[], row: Row): object {
    const full: Record<string, unknown> = { ...view.record(row) };
    if (this.mask) {
      for (const { name, kind } of view.columns) {
        const value = full[name];
        if (kind === 'recipient' && typeof value === 'string') full[name] = masked(value);
      }
    }
    if (typeof this.#options.columns !== 'string') return full;
    return Object.fromEntries(columns.map(({ name, value }) => [name, full[name] ?? value(row) ?? null]));
  }

  async #style() {
    return {
      paint: await painter(this.#colour),
      header: this.#options.header ?? true,
      width: this.#sink.isTerminal ? this.#sink.columns : null,
      mask: this.mask,
    };
  }
}

/** The rows of a list, and the error it ended with. */
async function gather<Row>(rows: Rows<Row>): Promise<{ arrived: Row[]; problem: { error: unknown } | null }> {
  const arrived: Row[] = [];
  try {
    for await (const row of rows) arrived.push(row);
    return { arrived, problem: null };
  } catch (error) {
    return { arrived, problem: { error } };
  }
}

function chosen<Row>(columns: readonly Column<Row>[], wanted: string): readonly Column<Row>[] {
  return wanted.split(',').map((name) => {
    const column = columns.find((each) => each.name === name.trim());
    if (column !== undefined) return column;
    throw new CliError('usage', exits.usage, `there is no column '${name.trim()}'`, {
      hint: `The columns are ${columns.map((each) => each.name).join(', ')}.`,
    });
  });
}
