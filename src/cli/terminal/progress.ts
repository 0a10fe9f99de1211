import type { Clock } from '../time/clock.js';
import { visible } from './sanitise.js';
import type { Sink } from './streams.js';

interface Part {
  done: number;
  total: number;
}

/** Progress of long work, on standard error. */
export interface Progress {
  /**
   * `part` draws a bar. Several texts are joined by commas; a narrow terminal omits the last ones. Cheap: call it at
   * every change. `lasts`: milliseconds from now without another change.
   */
  update(text: string | readonly string[], part?: Part, lasts?: number): void;
  /** Clears the display. */
  stop(): void;
}

/** A drawn line that can be cleared for other output. */
export interface Drawing {
  text: string;
  clear(): void;
  stop(): void;
}
export type Draw = (text: string) => Drawing;

const drawAfter = 300;
const lineEvery = 10_000;

export const noProgress: Progress = { update() {}, stop() {} };

/** For a pipe: a line every 10 s, none for shorter work, and one before a wait of that length. */
export function lineProgress(stderr: Sink, clock: Clock): Progress {
  let last = clock.elapsed();
  return {
    update(text, part, lasts = 0) {
      if (Math.max(clock.elapsed() - last, lasts) < lineEvery) return;
      last = clock.elapsed();
      const line =
        typeof text === 'string'
          ? `${text}${part ? ` (${part.done} of ${part.total})` : ''}`
          : text.join(', ');
      void stderr.write(`${visible(line)}\n`);
    },
    stop() {},
  };
}

/** For a terminal: a spinner, with a bar if the total is known; not drawn for short work. */
export class DrawnProgress implements Progress {
  readonly #columns: () => number;
  #text = '';
  #drawing: Drawing | null = null;
  #stopped = false;

  /** `columns` is called for every line, since the window may be resized. */
  constructor(load: () => Promise<Draw>, clock: Clock, columns: () => number) {
    this.#columns = columns;
    void clock.sleep(drawAfter).then(async () => {
      if (this.#stopped) return;
      const draw = await load();
      // From its first frame on, it can be cleared.
      if (!this.#stopped) this.#drawing = draw(this.#text);
    });
  }

  update(text: string | readonly string[], part?: Part): void {
    const words = (typeof text === 'string' ? [text] : text).map(visible);
    this.#text = fitted(words, part ?? null, this.#columns() - spinnerColumns);
    if (this.#drawing !== null) this.#drawing.text = this.#text;
  }

  /** Clears the line for other output; the next frame redraws it. */
  clear(): void {
    this.#drawing?.clear();
  }

  stop(): void {
    this.#stopped = true;
    this.#drawing?.stop();
    this.#drawing = null;
  }
}

/** The spinner, a space, and a free column, because some terminals wrap a full line. */
const spinnerColumns = 3;
const percentColumns = 6;
const barWidths = [20, 10, 5];

/** Shortens the bar first, then omits the last words. */
export function fitted(words: readonly string[], part: Part | null, columns: number): string {
  for (let count = words.length; count > 0; count -= 1) {
    const text = words.slice(0, count).join(', ');
    if (part === null && text.length <= columns) return text;
    if (part === null) continue;
    const room = columns - text.length - 1;
    const long = barWidths.find((width) => width + percentColumns <= room);
    if (long !== undefined) return `${bar(part.done, part.total, long)} ${text}`;
    const short = barWidths.find((width) => width <= room);
    if (short !== undefined) return `${blocks(part.done, part.total, short)} ${text}`;
  }
  const [first = ''] = words;
  return first.length <= columns ? first : `${first.slice(0, Math.max(0, columns - 1))}…`;
}

export function bar(done: number, total: number, columns: number): string {
  const percent = Math.floor(shareOf(done, total) * 100);
  return `${blocks(done, total, columns)} ${String(percent).padStart(3)} %`;
}

function blocks(done: number, total: number, columns: number): string {
  const full = Math.floor(shareOf(done, total) * columns);
  return '█'.repeat(full) + '░'.repeat(columns - full);
}

function shareOf(done: number, total: number): number {
  return total === 0 ? 1 : Math.min(1, Math.max(0, done / total));
}
