interface Watch {
  runs: Set<() => void>;
  stop(): void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls `run` when the signal aborts; the returned function cancels it. All calls with the same signal share a
 * listener, because Node.js warns of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const watch = watches.get(signal) ?? newWatch(signal);
  const { runs } = watch;
  runs.add(run);
  return () => {
    runs.delete(run);
    if (runs.size > 0 || watches.get(signal) !== watch) return;
    watches.delete(signal);
    watch.stop();
  };
}

function newWatch(signal: AbortSignal): Watch {
  const runs = new Set<() => void>();
  // Not `this`: signals of polyfills call listeners with another one.
  const runAll = () => {
    for (const run of runs) run();
  };
  const watch = { runs, stop: () => signal.removeEventListener('abort', runAll) };
  watches.set(signal, watch);
  signal.addEventListener('abort', runAll);
  return watch;
}
