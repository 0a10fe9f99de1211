import type { Clock } from '../world.js';
import { visible } from './sanitise.js';
import type { Sink } from './streams.js';

/** Shows on standard error that something is going on. */
export interface Progress {
  /** What is being done; `part` draws a bar. Cheap: call it as often as there is news. */
  update(text: string, part?: { done: number; total: number }): void;
  /** Takes the display away. */
  stop(): void;
}

/** A drawn line that other output has to make room for. */
export interface Drawing {
  text: string;
  clear(): void;
  stop(): void;
}
export type Draw = (text: string) => Promise<Drawing>;

const drawAfter = 300;
const lineEvery = 10_000;

/** Nothing, with --quiet. */
export const noProgress: Progress = { update() {}, stop() {} };

/** On a pipe: a line at most every 10 s, none for what is over sooner. */
export function lineProgress(stderr: Sink, clock: Clock): Progress {
  let last = clock.now();
  return {
    update(text, part) {
      if (clock.now() - last < lineEvery) return;
      last = clock.now();
      void stderr.write(`${visible(text)}${part ? ` (${part.done} of ${part.total})` : ''}\n`);
    },
    stop() {},
  };
}

/** On a terminal: a spinner, with a bar where the whole is known; drawn only for what takes a while. */
export class DrawnProgress implements Progress {
  #text = '';
  #drawing: Drawing | null = null;
  #stopped = false;

  constructor(draw: Draw, clock: Clock) {
    void clock.sleep(drawAfter).then(async () => {
      if (this.#stopped) return;
      const drawing = await draw(this.#text);
      if (this.#stopped) return drawing.stop();
      drawing.text = this.#text;
      this.#drawing = drawing;
    });
  }

  update(text: string, part?: { done: number; total: number }): void {
    this.#text = part ? `${bar(part.done, part.total)} ${visible(text)}` : visible(text);
    if (this.#drawing !== null) this.#drawing.text = this.#text;
  }

  /** Makes room for a line of other output; the next frame draws again. */
  clear(): void {
    this.#drawing?.clear();
  }

  stop(): void {
    this.#stopped = true;
    this.#drawing?.stop();
    this.#drawing = null;
  }
}

export function bar(done: number, total: number, columns = 20): string {
  const share = total === 0 ? 1 : Math.min(1, Math.max(0, done / total));
  const full = Math.floor(share * columns);
  return `${'█'.repeat(full)}${'░'.repeat(columns - full)} ${String(Math.floor(share * 100)).padStart(3)} %`;
}
