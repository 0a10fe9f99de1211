import type { GlobalOptions } from '../options.js';
import { duration } from '../output/wording.js';
import type { World } from '../world.js';
import { type Paint, painter, plain, wantsColour } from './colour.js';
import { DrawnProgress, lineProgress, noProgress, type Progress } from './progress.js';
import { visible, withoutKeys } from './sanitise.js';
import type { Sink } from './streams.js';
import { unbroken, type Wrap, wrapper } from './wrap.js';

/** What goes to standard error: notes, warnings, errors and the display of long work, never in each other's way. */
export class Notices {
  #paint: Paint = plain;
  #wrap: Wrap = unbroken;
  readonly #world: World;
  readonly #sink: Sink;
  readonly #options: GlobalOptions;
  readonly #machine: boolean;
  #saidRateLimited = false;
  #drawn: DrawnProgress | null = null;

  constructor(world: World, sink: Sink, options: GlobalOptions, machine: boolean) {
    this.#world = world;
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
    return wantsColour(this.#sink, this.#world.env, this.#options.color ?? true);
  }

  /** One safe line, whatever the text holds. */
  write(text: string): void {
    this.#line(visible(text));
  }

  note(text: string, command?: string): void {
    if (!this.#options.quiet) this.#line(this.#fitted(text, 0, command));
  }

  /** Said once: more of it would not tell more. */
  rateLimited(milliseconds: number): void {
    if (this.#saidRateLimited) return;
    this.#saidRateLimited = true;
    const long = milliseconds < 2_000 ? '' : `, up to ${duration(milliseconds / 1_000)}`;
    this.note(`Waiting for the rate limit${long}.`);
  }

  warn(text: string, command?: string): void {
    const said = this.#fitted(text, 'warning: '.length, command);
    this.#line(`${this.#paint('yellow', 'warning:')} ${said}`);
  }

  /** An error for people: what, then what to do about it. */
  error(message: string, hint: string | undefined): void {
    this.#line(`${this.#paint('red', 'urtuu:')} ${this.#fitted(message, 'urtuu: '.length)}`);
    if (hint !== undefined) this.#line(`  ${this.#fitted(hint, 2)}`);
  }

  /** Safe, and as wide as the terminal is: there a command has a line of its own. On a pipe all is one line. */
  #fitted(text: string, indent: number, command?: string): string {
    const lines = this.#wrap(visible(text), this.#sink.columns - indent, indent);
    if (command === undefined) return lines;
    return `${lines}${this.#sink.isTerminal ? '\n  ' : ' '}${visible(command)}`;
  }

  /** A text of ours, already safe. */
  raw(text: string): void {
    this.#line(text);
  }

  progress(): Progress {
    if (this.#options.quiet) return noProgress;
    if (!this.#sink.isTerminal)
      return this.#machine ? noProgress : lineProgress(this.#sink, this.#world.clock);
    this.#drawn?.stop();
    this.#drawn = new DrawnProgress(
      async (text) => {
        const { draw = (await import('./spinner.js')).drawOn(this.#world.stderr, this.colour) } = this.#world;
        return draw(text);
      },
      this.#world.clock,
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
