import type { GlobalOptions } from '../options.js';
import type { ProcessEnvironment } from '../process-environment.js';
import { duration } from '../wording.js';
import { type Paint, painter, plain, wantsColour } from './colour.js';
import { DrawnProgress, lineProgress, noProgress, type Progress } from './progress.js';
import { safeJson, visible, withoutKeys } from './sanitise.js';
import type { Sink } from './streams.js';
import { unbroken, type Wrap, wrapper } from './wrap.js';

/**
 * What goes to standard error: notes, warnings, errors and the display of long work, never in each other's way.
 * Where a program reads it, it is one JSON object at most: warnings are kept for it, notes are left out.
 */
export class Notices {
  #paint: Paint = plain;
  #wrap: Wrap = unbroken;
  readonly #environment: ProcessEnvironment;
  readonly #sink: Sink;
  readonly #options: GlobalOptions;
  readonly #machine: boolean;
  #saidRateLimited = false;
  #drawn: DrawnProgress | null = null;
  readonly #warnings: string[] = [];
  #conclusion: { message: string; hint?: string } | null = null;
  #details: Record<string, unknown> = {};

  constructor(environment: ProcessEnvironment, sink: Sink, options: GlobalOptions, machine: boolean) {
    this.#environment = environment;
    this.#sink = sink;
    this.#options = options;
    this.#machine = machine;
  }

  /** Loads what a terminal needs: colours, and breaks between words. What is said before is plain. */
  async dress(): Promise<void> {
    this.#paint = await painter(this.colour);
    if (this.#sink.isTerminal) this.#wrap = await wrapper();
  }

  get colour(): boolean {
    return wantsColour(this.#sink, this.#environment.env, this.#options.color ?? true);
  }

  /** One safe line, whatever the text holds. */
  write(text: string): void {
    this.#line(visible(text));
  }

  note(text: string, command?: string): void {
    if (this.#options.quiet || this.#isRead) return;
    this.#line(this.#fitted(text, 0, command));
  }

  /** Said once: more of it would not tell more. */
  rateLimited(milliseconds: number): void {
    if (this.#saidRateLimited) return;
    this.#saidRateLimited = true;
    const long = milliseconds < 2_000 ? '' : `, up to ${duration(milliseconds / 1_000)}`;
    this.note(`Waiting for the rate limit${long}.`);
  }

  warn(text: string, command?: string): void {
    if (this.#machine) this.#warnings.push(oneLine(text, command));
    if (!this.#isRead) this.#warning(text, command);
  }

  /** The last line of a command that ends with another code than 0. */
  conclude(text: string, command?: string): void {
    this.#conclusion = { message: text, ...(command === undefined ? {} : { hint: command }) };
    if (!this.#machine) this.#warning(text, command);
  }

  /** What the last line said; for a command that ends with a code and has thrown nothing. */
  get conclusion(): { message: string; hint?: string } | null {
    return this.#conclusion;
  }

  /** Fields of the error object, which a person is told in another way. */
  attach(details: Record<string, unknown>): void {
    Object.assign(this.#details, details);
  }

  /** The one object for a program: the error, and the warnings that came before it. */
  failure(error: object): void {
    this.#line(safeJson({ error: { ...error, ...this.#details }, warnings: this.#warnings.splice(0) }));
  }

  /** What a program has not been told yet, where nothing has failed. */
  flush(): void {
    if (this.#isRead && this.#warnings.length > 0)
      this.#line(safeJson({ warnings: this.#warnings.splice(0) }));
  }

  /** A program asked for its format, and no person looks on. */
  get #isRead(): boolean {
    return this.#machine && !this.#sink.isTerminal;
  }

  #warning(text: string, command?: string): void {
    const said = this.#fitted(text, 'warning: '.length, command);
    this.#line(`${this.#paint('yellow', 'warning:')} ${said}`);
  }

  /** An error for people: what, then what to do about it, and a command to copy. */
  error(message: string, hint: string | undefined, command?: string): void {
    this.#line(`${this.#paint('red', 'urtuu:')} ${this.#fitted(message, 'urtuu: '.length)}`);
    if (hint !== undefined) this.#line(`  ${this.#fitted(hint, 2, command)}`);
  }

  /** Safe, and as wide as the terminal is: there a command has a line of its own. On a pipe all is one line. */
  #fitted(text: string, indent: number, command?: string): string {
    const lines = this.#wrap(visible(text), this.#sink.columns - indent, indent);
    if (command === undefined) return lines;
    return `${lines}${this.#sink.isTerminal ? '\n  ' : ' '}${visible(command)}`;
  }

  progress(): Progress {
    if (this.#options.quiet) return noProgress;
    if (!this.#sink.isTerminal)
      return this.#machine ? noProgress : lineProgress(this.#sink, this.#environment.clock);
    this.#drawn?.stop();
    this.#drawn = new DrawnProgress(
      async (text) => {
        const { draw = (await import('./spinner.js')).drawOn(this.#environment.stderr, this.colour) } =
          this.#environment;
        return draw(text);
      },
      this.#environment.clock,
      () => this.#sink.columns,
    );
    return this.#drawn;
  }

  stop(): void {
    this.#drawn?.stop();
  }

  /** Takes the drawing away until its next frame. */
  makeRoom(): void {
    this.#drawn?.clear();
  }

  #line(text: string): void {
    this.makeRoom();
    void this.#sink.write(`${withoutKeys(text)}\n`);
  }
}

const oneLine = (text: string, command?: string) => (command === undefined ? text : `${text} ${command}`);
