import type { GlobalOptions } from '../options.js';
import type { World } from '../world.js';
import { type Paint, painter, wantsColour } from './colour.js';
import { DrawnProgress, lineProgress, noProgress, type Progress } from './progress.js';
import { visible } from './sanitise.js';
import type { Sink } from './streams.js';

/** What goes to standard error: notes, warnings, errors and the display of long work, never in each other's way. */
export class Notices {
  readonly paint: Paint;
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
    this.paint = painter(wantsColour(sink, world.env, options.color ?? true));
  }

  /** One safe line, whatever the text holds. */
  write(text: string): void {
    this.#line(visible(text));
  }

  note(text: string): void {
    if (!this.#options.quiet) this.write(text);
  }

  warn(text: string): void {
    this.#line(`${this.paint('yellow', 'warning:')} ${visible(text)}`);
  }

  /** An error for people: what, then what to do about it. */
  error(message: string, hint: string | undefined): void {
    this.#line(`${this.paint('red', 'urtuu:')} ${visible(message)}`);
    if (hint !== undefined) this.#line(`  ${visible(hint)}`);
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
        const draw = this.#world.draw ?? (await import('./spinner.js')).drawOn(this.#world.stderr);
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
    void this.#sink.write(`${text}\n`);
  }
}
