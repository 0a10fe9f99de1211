import { setImmediate } from 'node:timers/promises';
import type { UrtuuEvent } from '../../../src/contract/index.js';
import type { Core } from '../../../src/service/core.js';
import { ServiceError } from '../../../src/service/errors/service-error.js';
import { caller } from '../../support/cores.js';

/** Whoever listens moves its cursor once an event is handled; or as soon as it is answered, and loses events. */
export type ListenerKind = 'shipped' | 'moves_before_it_handles';

/** An event that was handled: what it is about, and its place in its line. */
export interface Handled {
  id: string;
  type: UrtuuEvent['type'];
  about: string;
  line: string;
  number: number;
}

/** A listener with a cursor on its disk, which is killed anywhere in a call. */
export class Listener {
  cursor: string | null = null;
  readonly handled: Handled[] = [];
  calls = 0;
  /** Calls that were answered, whether the answer came or not. */
  answers = 0;
  kills = 0;
  /** Calls that were refused because events may have been missed. */
  expired = 0;
  readonly #kind: ListenerKind;
  readonly #random: () => number;

  constructor(kind: ListenerKind, random: () => number) {
    this.#kind = kind;
    this.#random = random;
  }

  /** One call, and what it leads to; whether there were events. `isSafe`: nobody kills it. */
  async call(core: Core, isSafe = false): Promise<boolean> {
    const isKilled = () => {
      const dies = !isSafe && this.#random() < 0.2;
      if (dies) this.kills += 1;
      return dies;
    };
    const after = this.cursor ?? undefined;
    const limit = 1 + Math.floor(this.#random() * 40);
    this.calls += 1;
    let page: Awaited<ReturnType<Core['operations']['listEvents']>>;
    try {
      page = await core.operations.listEvents(caller, { after, limit });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === 'cursor_expired' && !isKilled()) {
        this.expired += 1;
        this.cursor = null;
      } else if (error.code !== 'cursor_expired' && error.code !== 'unavailable') throw error;
      return true;
    }
    this.answers += 1;
    if (isKilled()) return true;
    if (this.#kind === 'moves_before_it_handles') this.cursor = page.next;
    for (const event of page.data) {
      if (this.#random() < 0.05) await setImmediate();
      if (isKilled()) return true;
      this.handled.push(handled(event));
      if (isKilled()) return true;
      if (this.#kind === 'shipped') this.cursor = event.id;
    }
    this.cursor = page.next;
    return page.data.length > 0;
  }
}

function handled({ id, type, data }: UrtuuEvent): Handled {
  const [line = '', number] = id.split('-');
  const about = data === null ? '' : 'id' in data ? data.id : data.to;
  return { id, type, about, line, number: Number(number) };
}
