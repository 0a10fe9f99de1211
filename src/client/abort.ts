const watched = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs `run` when the signal aborts; the returned function ends that. One listener serves all calls that share a
 * signal: Node.js warns of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const runs = watched.get(signal) ?? watch(signal);
  runs.add(run);
  return () => {
    runs.delete(run);
    if (runs.size > 0 || watched.get(signal) !== runs) return;
    watched.delete(signal);
    signal.removeEventListener('abort', runAll);
  };
}

function watch(signal: AbortSignal): Set<() => void> {
  const runs = new Set<() => void>();
  watched.set(signal, runs);
  signal.addEventListener('abort', runAll);
  return runs;
}

function runAll(this: AbortSignal): void {
  for (const run of watched.get(this) ?? []) run();
}
