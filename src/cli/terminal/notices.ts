import { duration } from '../text/wording.js';
import type { Clock } from '../time/clock.js';
import { type Paint, painter, plain, wantsColour } from './colour.js';
import { type Draw, DrawnProgress, lineProgress, noProgress, type Progress } from './progress.js';
import { safeJson, visible, withoutKeys } from './sanitise.js';
import type { OutputStream, Sink } from './streams.js';
import { unbroken, type Wrap, wrapper } from './wrap.js';

interface NoticeOptions {
  quiet?: boolean;
  color?: boolean;
}

interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stderr: OutputStream;
  readonly clock: Clock;
  readonly draw?: Draw;
}

/**
 * Standard error: notes, warnings, errors and progress that do not overwrite each other. A program gets at most one
 * JSON object, with the warnings and without notes; from a command without an end, it gets a line of JSON for each
 * warning.
 */
export class Notices {
  #paint: Paint = plain;
  #wrap: Wrap = unbroken;
  readonly #terminal: Terminal;
  readonly #sink: Sink;
  readonly #options: NoticeOptions;
  readonly #machine: boolean;
  #saidRateLimited = false;
  #drawn: DrawnProgress | null = null;
  readonly #warnings: string[] = [];
  #endless = false;
  #conclusion: { message: string; hint?: string } | null = null;
  #details: Record<string, unknown> = {};

  constructor(terminal: Terminal, sink: Sink, options: NoticeOptions, machine: boolean) {
    this.#terminal = terminal;
    this.#sink = sink;
    this.#options = options;
    this.#machine = machine;
  }

  /** Loads colours and wrapping for a terminal; until then, texts are printed plain. */
  async prepare(): Promise<void> {
    this.#paint = await painter(this.colour);
    if (this.#sink.isTerminal) this.#wrap = await wrapper();
  }

  get colour(): boolean {
    return wantsColour(this.#sink, this.#terminal.env, this.#options.color ?? true);
  }

  /** Writes one line, safe for a terminal. */
  write(text: string): void {
    this.#line(visible(text));
  }

  note(text: string, command?: string): void {
    if (this.#options.quiet || this.#isForProgram) return;
    this.#line(this.#fitted(text, 0, command));
  }

  /** Only the first time. */
  rateLimited(milliseconds: number): void {
    if (this.#saidRateLimited) return;
    this.#saidRateLimited = true;
    const long = milliseconds < 2_000 ? '' : `, up to ${duration(milliseconds / 1_000)}`;
    this.note(`Waiting for the rate limit${long}.`);
  }

  warn(text: string, command?: string): void {
    if (this.#machine) this.#warnings.push(oneLine(text, command));
    if (!this.#isForProgram) this.#warning(text, command);
    else if (this.#endless) this.flush();
  }

  /** The last line of a command that exits with a code other than 0. */
  conclude(text: string, next?: readonly [text: string, command: string]): void {
    this.#conclusion = { message: text, ...(next === undefined ? {} : { hint: oneLine(...next) }) };
    if (this.#machine) return;
    if (next === undefined) this.#warning(text);
    else this.#warning(oneLine(text, next[0]), next[1]);
  }

  /** The last line of a command that exits with a code without having thrown an error. */
  get conclusion(): { message: string; hint?: string } | null {
    return this.#conclusion;
  }

  /** Adds fields to the error object; people see them elsewhere. */
  attach(details: Record<string, unknown>): void {
    Object.assign(this.#details, details);
  }

  /** Writes the one object for a program: the error and the warnings before it. */
  failure(error: object): void {
    this.#line(safeJson({ error: { ...error, ...this.#details }, warnings: this.#warnings.splice(0) }));
  }

  /** Marks a command without an end: from now on programs get each warning at once. */
  endless(): void {
    this.#endless = true;
    this.flush();
  }

  /** Writes the warnings for a program if nothing has failed. */
  flush(): void {
    if (this.#isForProgram && this.#warnings.length > 0)
      this.#line(safeJson({ warnings: this.#warnings.splice(0) }));
  }

  /** Whether a program, not a person, reads standard error. */
  get #isForProgram(): boolean {
    return this.#machine && !this.#sink.isTerminal;
  }

  #warning(text: string, command?: string): void {
    const said = this.#fitted(text, 'warning: '.length, command);
    this.#line(`${this.#paint('yellow', 'warning:')} ${said}`);
  }

  /** An error for people: message, hint, and a command to copy. */
  error(message: string, hint: string | undefined, command?: string): void {
    this.#line(`${this.#paint('red', 'urtuu:')} ${this.#fitted(message, 'urtuu: '.length)}`);
    if (hint !== undefined) this.#line(`  ${this.#fitted(hint, 2, command)}`);
  }

  /** Wrapped on a terminal, with the command on its own line; one line on a pipe. */
  #fitted(text: string, indent: number, command?: string): string {
    const lines = this.#wrap(visible(text), this.#sink.columns - indent, indent);
    if (command === undefined) return lines;
    return `${lines}${this.#sink.isTerminal ? '\n  ' : ' '}${visible(command)}`;
  }

  progress(): Progress {
    if (this.#options.quiet) return noProgress;
    if (!this.#sink.isTerminal)
      return this.#machine ? noProgress : lineProgress(this.#sink, this.#terminal.clock);
    this.#drawn?.stop();
    this.#drawn = new DrawnProgress(
      async () =>
        this.#terminal.draw ?? (await import('./spinner.js')).drawOn(this.#terminal.stderr, this.colour),
      this.#terminal.clock,
      () => this.#sink.columns,
    );
    return this.#drawn;
  }

  stop(): void {
    this.#drawn?.stop();
  }

  /** Clears the drawing until its next frame. */
  makeRoom(): void {
    this.#drawn?.clear();
  }

  #line(text: string): void {
    this.makeRoom();
    void this.#sink.write(`${withoutKeys(text)}\n`);
  }
}

const oneLine = (text: string, command?: string) => (command === undefined ? text : `${text} ${command}`);
