import { Ended, usageError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { painter, wantsColour } from '../terminal/colour.js';
import { safeJson, visible, visibleLines } from '../terminal/sanitise.js';
import type { Sink } from '../terminal/streams.js';
import { didYouMean } from '../text/suggest.js';
import { card } from './card.js';
import { type Format, isMachineFormat, type OutputOptions } from './formats.js';
import { masked } from './mask.js';
import { checkPath, valueAt } from './value.js';
import type { Column, View } from './view.js';

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** Writes results to standard output in the chosen format. */
export class Printer {
  readonly format: Format;
  readonly mask: boolean;
  readonly #sink: Sink;
  readonly #options: OutputOptions;
  readonly #colour: boolean;

  constructor(sink: Sink, options: OutputOptions, env: Readonly<Record<string, string | undefined>>) {
    this.#sink = sink;
    this.#options = options;
    this.format = options.json ? 'json' : (options.output ?? 'table');
    this.mask = options.mask ?? (this.#isTable && env.CI !== undefined && env.CI !== 'false');
    this.#colour = this.format === 'table' && wantsColour(sink, env, options.color ?? true);
  }

  /** The error of standard output; null if there was none. */
  get failure(): NodeJS.ErrnoException | null {
    return this.#sink.failure;
  }

  /** Whether a program reads the output. */
  get isMachine(): boolean {
    return isMachineFormat(this.format);
  }

  /**
   * Called before the action: refuses invalid `--columns`, and lists the names if none are given. A command that
   * `sends` refuses that too, because a script with an empty list of names would take exit 0 for a send.
   */
  async checkColumns(view: View<never> | undefined, sends = false): Promise<void> {
    const { columns: wanted, value } = this.#options;
    if (value !== undefined) return this.#checkValue(view, value);
    if (wanted === undefined) return;
    if (view === undefined) throw usageError('this command has no columns', 'It prints no table.');
    if (wanted === true) {
      await this.text(
        view.columns.map(({ name }) => `${this.#sink.isTerminal ? visible(name) : name}\n`).join(''),
      );
      if (sends)
        throw usageError('nothing was sent: --columns has no names', 'The columns are listed above.');
      throw new Ended(exits.ok);
    }
    columnsNamed(view.columns, wanted);
  }

  get #isTable(): boolean {
    return this.format === 'table' && this.#options.value === undefined;
  }

  #checkValue(view: View<never> | undefined, path: string): void {
    if (view === undefined) throw usageError('this command has no fields', 'It prints no table.');
    if (this.isMachine || this.#options.columns !== undefined) {
      throw usageError(
        '--value cannot be combined with --output, --json or --columns',
        'It prints one bare value.',
      );
    }
    checkPath(view.columns, path);
  }

  /** Masked if recipients are masked. */
  recipient(to: string): string {
    return this.mask ? masked(to) : to;
  }

  /** Prints one result. */
  async one<Row>(view: View<Row>, row: Row): Promise<void> {
    const { value } = this.#options;
    if (value !== undefined) return this.text(`${this.#valueOf(view, row, value)}\n`);
    if (this.format !== 'table') return this.#machine(view, [row], true);
    await this.#sink.write(await card(this.#cardOf(view), row, await this.#style()));
  }

  /** Prints one result of a list as it arrives. */
  async single<Row>(view: View<Row>, rows: Rows<Row>): Promise<void> {
    const { arrived, problem } = await gather(rows);
    for (const row of arrived) await this.one(view, row);
    if (problem !== null) throw problem.error;
  }

  /**
   * Prints a list of results; ndjson, csv and tsv write each one as it arrives. If an error occurs, the rows before
   * it are written first. Returns the number of rows of a table.
   */
  async many<Row>(view: View<Row>, rows: Rows<Row>): Promise<number | null> {
    if (!this.#isTable) {
      await this.#machine(view, rows, false);
      return null;
    }
    const { arrived, problem } = await gather(rows);
    const { table } = await import('./table.js');
    await this.#sink.write(await table(this.#columns(view, false), arrived, await this.#style()));
    if (problem !== null) throw problem.error;
    return arrived.length;
  }

  /** Prints a list that arrives in batches and may never end; a table has one header. */
  async batches<Row>(view: View<Row>, batches: AsyncIterable<readonly Row[]>): Promise<void> {
    if (!this.#isTable) return this.#machine(view, eachOf(batches), false);
    const { table } = await import('./table.js');
    const style = await this.#style();
    for await (const rows of batches) {
      if (rows.length === 0) continue;
      await this.#sink.write(await table(this.#columns(view, false), rows, style));
      if (this.#sink.hasFailed) return;
      style.header = false;
    }
  }

  /** The columns for a machine format: all, or those of `--columns`. */
  columnsOf<Row>(view: View<Row>): readonly Column<Row>[] {
    return this.#columns(view, true);
  }

  /** A list in a machine format, in blocks; made safe for a terminal if one reads it. */
  async *formatted<Row>(
    view: View<Row>,
    rows: Rows<Row>,
    { format, terminal = false, mask = this.mask }: { format: Format; terminal?: boolean; mask?: boolean },
  ): AsyncGenerator<string, void> {
    const columns = this.#columns(view, true);
    if (format === 'csv' || format === 'tsv') {
      const { separatedLine, separatedRow } = await import('./separated.js');
      const names = columns.map(({ name }) => name);
      if (this.#options.header ?? true) yield separatedLine(format, names, terminal);
      for await (const row of rows) yield separatedRow(format, columns, row, { mask, terminal });
    } else if (format === 'ndjson') {
      for await (const row of rows) yield `${safeJson(this.#record(view, columns, row, mask))}\n`;
    } else {
      yield* jsonArray(rows, (row) => safeJson(this.#record(view, columns, row, mask), 2));
    }
  }

  async #machine<Row>(view: View<Row>, rows: Rows<Row>, single: boolean): Promise<void> {
    const { format, mask } = this;
    const { value } = this.#options;
    if (value !== undefined) {
      for await (const row of rows) {
        await this.#sink.write(`${visible(this.#valueOf(view, row, value))}\n`);
        if (this.#sink.hasFailed) return;
      }
      return;
    }
    if (single && format === 'json') {
      const columns = this.#columns(view, true);
      for await (const row of rows) {
        await this.#sink.write(`${safeJson(this.#record(view, columns, row, mask), 2)}\n`);
      }
      return;
    }
    const terminal = this.#sink.isTerminal;
    for await (const text of this.formatted(view, rows, { format, terminal })) {
      await this.#sink.write(text);
      if (this.#sink.hasFailed) return;
    }
  }

  /** Writes blocks of `formatted`. */
  async write(blocks: AsyncIterable<string>): Promise<void> {
    for await (const block of blocks) {
      await this.#sink.write(block);
      if (this.#sink.hasFailed) return;
    }
  }

  /** Whether the results go to a terminal. */
  get isTerminal(): boolean {
    return this.#sink.isTerminal;
  }

  /** Prints plain text, made safe for a terminal. */
  async text(text: string): Promise<void> {
    await this.#sink.write(this.#sink.isTerminal ? visibleLines(text) : text);
  }

  /** Prints a page of help. */
  async page(text: string): Promise<void> {
    await this.#sink.page(text);
  }

  #valueOf<Row>(view: View<Row>, row: Row, path: string): string {
    const record = this.#record(view, view.columns, row, this.mask);
    // A table's column may be elsewhere in the JSON.
    const column = Object.hasOwn(record, path) ? undefined : view.columns.find(({ name }) => name === path);
    return valueAt(column === undefined ? record : { [path]: column.value(row) }, path);
  }

  #cardOf<Row>(view: View<Row>): readonly Column<Row>[] {
    return typeof this.#options.columns === 'string'
      ? this.#columns(view, true)
      : (view.card ?? view.columns);
  }

  #columns<Row>(view: View<Row>, details: boolean): readonly Column<Row>[] {
    const wanted = this.#options.columns;
    if (typeof wanted === 'string') return columnsNamed(view.columns, wanted);
    return details ? view.columns : (view.table ?? view.columns.filter(({ detail }) => !detail));
  }

  /** JSON fields in the order of the columns, then those without a column. */
  #record<Row>(view: View<Row>, columns: readonly Column<Row>[], row: Row, mask: boolean): object {
    const given: Record<string, unknown> = { ...view.record(row) };
    const full: Record<string, unknown> = {};
    for (const { name } of view.columns) if (Object.hasOwn(given, name)) full[name] = given[name];
    Object.assign(full, given);
    if (mask) {
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

async function* eachOf<Row>(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<Row> {
  for await (const rows of batches) yield* rows;
}

/** Indents like `JSON.stringify`, row by row, and closes the array even after an error. */
async function* jsonArray<Row>(rows: Rows<Row>, json: (row: Row) => string): AsyncGenerator<string, void> {
  let count = 0;
  let problem: { error: unknown } | null = null;
  try {
    for await (const row of rows) {
      yield `${count === 0 ? '[' : ','}\n  ${json(row).replaceAll('\n', '\n  ')}`;
      count += 1;
    }
  } catch (error) {
    problem = { error };
  }
  yield count === 0 ? '[]\n' : '\n]\n';
  if (problem !== null) throw problem.error;
}

/** All rows, and the error after them if there was one. */
async function gather<Row>(rows: Rows<Row>): Promise<{ arrived: Row[]; problem: { error: unknown } | null }> {
  const arrived: Row[] = [];
  try {
    for await (const row of rows) arrived.push(row);
    return { arrived, problem: null };
  } catch (error) {
    return { arrived, problem: { error } };
  }
}

function columnsNamed<Row>(columns: readonly Column<Row>[], wanted: string): readonly Column<Row>[] {
  return wanted.split(',').map((name) => {
    const column = columns.find((each) => each.name === name.trim());
    if (column !== undefined) return column;
    const names = columns.map((each) => each.name);
    const suggestion = didYouMean(name.trim(), names);
    throw usageError(`unknown column '${name.trim()}'`, `${suggestion}The columns are ${names.join(', ')}.`);
  });
}
