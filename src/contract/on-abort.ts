interface Listening {
  run(): void;
  /** Its place among those of its signal; -1 once it is cancelled. */
  at: number;
}

interface Watch {
  all: Listening[];
  stop(): void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls `run` when the signal aborts; the returned function cancels it. All calls with the same signal share a
 * listener, because Node.js warns of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const watch = watches.get(signal) ?? newWatch(signal);
  const { all } = watch;
  const listening = { run, at: all.length };
  all.push(listening);
  return () => {
    remove(all, listening);
    if (all.length > 0 || watches.get(signal) !== watch) return;
    watches.delete(signal);
    watch.stop();
  };
}

/** Not a Set, nor the list of a signal: what left them refers to what came later, which then stays until a full collection. */
function remove(all: Listening[], listening: Listening): void {
  const { at } = listening;
  if (at < 0) return;
  listening.at = -1;
  const last = all.pop();
  if (last === undefined || last === listening) return;
  all[at] = last;
  last.at = at;
}

function newWatch(signal: AbortSignal): Watch {
  const all: Listening[] = [];
  // Not `this`: signals of polyfills call listeners with another one.
  const runAll = () => {
    for (const listening of [...all]) if (listening.at >= 0) listening.run();
  };
  const watch = { all, stop: () => signal.removeEventListener('abort', runAll) };
  watches.set(signal, watch);
  signal.addEventListener('abort', runAll);
  return watch;
}
