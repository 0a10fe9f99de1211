import { type Family, Histogram } from './families.js';

/** Milliseconds between two measurements. */
const measureEvery = 100;

/** How late timers of this process are. */
export class EventLoopDelay implements Family {
  readonly #delay = new Histogram(
    'urtuu_event_loop_delay_seconds',
    'Delay of a timer of the event loop, ten times a second.',
  );
  readonly #timer: NodeJS.Timeout;

  constructor() {
    let due = performance.now() + measureEvery;
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#delay.observe('', Math.max(0, now - due));
      due = now + measureEvery;
    }, measureEvery).unref();
  }

  write(): string {
    return this.#delay.write();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
