import type { Store } from '../../../src/service/storage/store.js';
import { caller } from '../../support/cores.js';
import type { Handled, Listener } from './listener.js';

/** What a listener must be shown, and what it must not. */
export class Judge {
  /** Events that were not shown, or out of their order, or of others; and losses that nobody spoke of. */
  readonly wrong = { missing: 0, disordered: 0, changed: 0, foreign: 0, silent: 0 };
  reported = 0;
  /** Whether the service has answered in this line: from then on everything is reported. */
  isHeard = false;
  readonly #expected = new Set<string>();
  readonly #others = new Set<string>();
  #life = 0;

  /** Everything of the line was read, or is lost with it. */
  endLine(): void {
    this.#life += 1;
    this.isHeard = false;
    this.#expected.clear();
  }

  /** Something that is reported once it is committed. */
  async during<Result>(call: Promise<Result>, keysOf: (result: Result) => string[]): Promise<Result> {
    const [life, isHeard] = [this.#life, this.isHeard];
    const result = await call;
    if (isHeard && life === this.#life) for (const key of keysOf(result)) this.#expected.add(key);
    return result;
  }

  watch(store: Store): Store {
    return {
      ...store,
      finalizeMessages: (given, answer) =>
        this.during(store.finalizeMessages(given, answer), (ended) =>
          ended.flatMap((one) => {
            if (one === null) return [];
            const { projectId, id, status } = one.message;
            if (projectId === caller.projectId) return [`message.${status} ${id}`];
            this.#others.add(id);
            return [];
          }),
        ),
    };
  }

  /** After a listener has read everything of a line. */
  judge({ handled }: Listener): void {
    const shown = new Set(handled.map(({ type, about }) => `${type} ${about}`));
    this.reported += this.#expected.size;
    for (const key of this.#expected) if (!shown.has(key)) this.wrong.missing += 1;
    const byId = new Map<string, Handled>();
    const last = new Map<string, number>();
    for (const event of handled) {
      const known = byId.get(event.id);
      if (this.#others.has(event.about)) this.wrong.foreign += 1;
      if (known === undefined) {
        if (event.number < (last.get(event.line) ?? 0)) this.wrong.disordered += 1;
        last.set(event.line, event.number);
        byId.set(event.id, event);
      } else if (known.type !== event.type || known.about !== event.about) this.wrong.changed += 1;
    }
    // A message is sent before it is delivered.
    const seen = new Set<string>();
    for (const { type, about, line } of byId.values()) {
      seen.add(`${line} ${type} ${about}`);
      const ended = `${line} message.sent ${about}`;
      if (type === 'message.delivery' && this.#expected.has(`message.sent ${about}`) && !seen.has(ended))
        this.wrong.disordered += 1;
    }
  }
}
