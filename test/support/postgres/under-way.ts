import { Client } from 'pg';

const all = '*';
/** What is asked now, of every database or of one, as `port/name`. */
const asked = new Map<string, number>();
let begun = 0;
let isCounting = false;
const waiting: (() => void)[] = [];

/**
 * Counts what this process asks of PostgreSQL, or of one database: time may only be let pass while that is nothing.
 * Gives what ends it: connections of a server that was stopped may never answer.
 */
export function countUnderWay(database?: string): () => void {
  const name = database === undefined ? all : new URL(database).port + new URL(database).pathname;
  asked.set(name, 0);
  count();
  return () => {
    asked.delete(name);
    tell();
  };
}

function count(): void {
  if (isCounting) return;
  isCounting = true;
  for (const name of ['connect', 'query'] as const) {
    const method = Client.prototype[name] as (...given: unknown[]) => unknown;
    Client.prototype[name] = function counted(this: Client, ...given: unknown[]) {
      const result = method.apply(this, given);
      const own = `${this.port}/${this.database}`;
      const of = asked.has(own) ? own : all;
      if (result instanceof Promise && asked.has(of)) {
        begun += 1;
        add(of, 1);
        const end = () => {
          if (isOver) return;
          isOver = true;
          this.off('end', end);
          add(of, -1);
        };
        let isOver = false;
        result.then(end, end);
        // A connection that is ended while it is made never answers.
        this.setMaxListeners(0);
        this.once('end', end);
      }
      return result;
    } as never;
  }
}

function add(name: string, change: 1 | -1): void {
  const before = asked.get(name);
  if (before === undefined) return;
  asked.set(name, before + change);
  if (!isAnyUnderWay()) tell();
}

function tell(): void {
  for (const resolve of waiting.splice(0)) resolve();
}

const isAnyUnderWay = (): boolean => [...asked.values()].some((questions) => questions > 0);

/** Waits until the database is asked nothing, and the answers lead to no other question. */
export async function nothingUnderWay(): Promise<void> {
  for (let before = -1; before !== begun; ) {
    before = begun;
    while (isAnyUnderWay()) {
      await new Promise<void>((resolve) => void waiting.push(resolve));
    }
    // Questions are collected for a tick.
    for (let tick = 0; tick < 3 && asked.size > 0; tick += 1) await new Promise(setImmediate);
  }
}
