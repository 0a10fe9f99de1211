import { Client } from 'pg';

let [begun, underWay] = [0, 0];
let isCounting = false;
/** Of all that wait: games may be played side by side. */
let waiting: (() => void)[] = [];

/** Counts what this process asks of PostgreSQL from now on: time may only be let pass while that is nothing. */
export function countUnderWay(): void {
  if (isCounting) return;
  isCounting = true;
  for (const name of ['connect', 'query'] as const) {
    const method = Client.prototype[name] as (...given: unknown[]) => unknown;
    Client.prototype[name] = function counted(this: Client, ...given: unknown[]) {
      const result = method.apply(this, given);
      if (result instanceof Promise) {
        begun += 1;
        underWay += 1;
        result.then(end, end);
      }
      return result;
    } as never;
  }
}

function end(): void {
  underWay -= 1;
  if (underWay > 0) return;
  for (const go of waiting) go();
  waiting = [];
}

/** Waits until the database is asked nothing, and the answers lead to no other question. */
export async function nothingUnderWay(): Promise<void> {
  for (let before = -1; before !== begun; ) {
    before = begun;
    while (underWay > 0) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    }
    // Questions are collected for a turn.
    for (let turn = 0; turn < 3 && isCounting; turn += 1) await new Promise(setImmediate);
  }
}
