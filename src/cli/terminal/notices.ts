import type { GlobalOptions } from '../options.js';
import type { World } from '../world.js';
import { type Paint, painter, plain, wantsColour } from './colour.js';
import { DrawnProgress, lineProgress, noProgress, type Progress } from './progress.js';
import { visible, withoutKeys } from './sanitise.js';
import type { Sink } from './streams.js';

/** What goes to standard error: notes, warnings, errors and the display of long work, never in each other's way. */
export class Notices {
  #paint: Paint = plain;
  readonly #world: World;
  readonly #sink: Sink;
  readonly #options: GlobalOptions;
  readonly #machine: boolean;
  #drawn: DrawnProgress | null = null;

  constructor(world: World, sink: Sink, options: GlobalOptions, machine: boolean) {
    this.#world = world;
    this.#sink = sink;
    this.#options = options;
    this.#machine = machine;
  }

  /** Loads the colours, where there are any; what is said before is plain. */
  async loadColours(): Promise<void> {
    this.#paint = await painter(this.#wantsColour);
  }

  get #wantsColour(): boolean {
    return wantsColour(this.#sink, this.#world.env, this.#options.color ?? true);
  }

  /** One safe line, whatever the text holds. */
  write(text: string): void {
    this.#line(visible(text));
  }

  note(text: string): void {
    if (!this.#options.quiet) this.write(text);
  }

  warn(text: string): void {
    this.#line(`${this.#paint('yellow', 'warning:')} ${visible(text)}`);
  }

  /** An error for people: what, then what to do about it. */
  async error(message: string, hint: string | undefined): Promise<void> {
    this.#line(`${this.#paint('red', 'urtuu:')} ${await this.#wrapped(message, 'urtuu: '.length)}`);
    if (hint !== undefined) this.#line(`  ${await this.#wrapped(hint, 2)}`);
  }

  /** Safe, and as wide as the terminal is; a pipe takes any line. */
  async #wrapped(text: string, indent: number): Promise<string> {
    if (!this.#sink.isTerminal) return visible(text);
    const { wrap } = await import('./wrap.js');
    return wrap(visible(text), this.#sink.columns - indent, indent);
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
        const { draw = (await import('./spinner.js')).drawOn(this.#world.stderr, this.#wantsColour) } =
          this.#world;
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
