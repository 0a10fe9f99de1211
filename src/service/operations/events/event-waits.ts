import { mostWaiting } from '../../../contract/index.js';
import type { Clock } from '../../clock.js';
import type { EventPlace, Store } from '../../storage/store.js';

/** Milliseconds between looks for new events, for all calls of this process that wait. */
const lookEvery = 250;

/** Calls a function once nobody may wait for an answer any more, until the returned one is called. */
export type WhenEnded = (run: () => void) => () => void;

interface Waiting extends EventPlace {
  projectId: string;
  end(): void;
}

/** Lets calls wait for events. It asks the store for all of them at once, and holds no connection meanwhile. */
export class EventWaits {
  readonly #store: Pick<Store, 'eventLines'>;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  /** Calls by project that wait, or look what they have waited for. */
  readonly #calls = new Map<string, number>();
  #cancel = () => {};
  #isClosed = false;

  constructor(store: Pick<Store, 'eventLines'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Calls `look` with a function that waits behind a place: true if there may be something, false if it is to answer. */
  async run<Result>(
    projectId: string,
    milliseconds: number,
    look: (wait: (place: EventPlace) => Promise<boolean>) => Promise<Result>,
    whenEnded: WhenEnded = () => () => {},
  ): Promise<Result> {
    const calls = this.#calls.get(projectId) ?? 0;
    if (milliseconds === 0 || calls >= mostWaiting) return look(async () => false);
    const call = { until: this.#clock.monotonic() + milliseconds, end: () => {} };
    const stop = whenEnded(() => {
      call.until = 0;
      call.end();
    });
    this.#calls.set(projectId, calls + 1);
    try {
      return await look((place) => this.#wait(projectId, place, call));
    } finally {
      stop();
      const left = (this.#calls.get(projectId) ?? 1) - 1;
      if (left > 0) this.#calls.set(projectId, left);
      else this.#calls.delete(projectId);
    }
  }

  /** Ends all waits: their calls are answered, and so is every later one. */
  close(): void {
    this.#isClosed = true;
    this.#cancel();
    for (const each of this.#waiting) each.end();
  }

  async #wait(projectId: string, place: EventPlace, call: { until: number; end(): void }): Promise<boolean> {
    const left = call.until - this.#clock.monotonic();
    if (this.#isClosed || left <= 0) return false;
    await new Promise<void>((resolve) => {
      const waiting = { projectId, ...place, end: resolve };
      const cancel = this.#clock.after(left, () => waiting.end());
      waiting.end = () => {
        cancel();
        this.#waiting.delete(waiting);
        resolve();
      };
      call.end = waiting.end;
      this.#waiting.add(waiting);
      if (this.#waiting.size === 1) this.#lookLater();
    });
    return !this.#isClosed && call.until > 0;
  }

  #lookLater(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(lookEvery, () => void this.#look());
  }

  async #look(): Promise<void> {
    const asked = [...this.#waiting];
    const ids = [...new Set(asked.map(({ projectId }) => projectId))];
    // Whoever waits looks by itself, and says what is wrong with the store.
    const lines = await this.#store.eventLines(ids).catch(() => []);
    const states = new Map(lines.map((state) => [state.projectId, state]));
    for (const each of asked) {
      const state = states.get(each.projectId);
      if (state === undefined || state.hasNew || state.line !== each.line || state.number > each.number)
        each.end();
    }
    if (this.#waiting.size > 0) this.#lookLater();
  }
}
