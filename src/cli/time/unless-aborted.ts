/** The result of the work, or null as soon as the signal is aborted; the work itself continues. */
export async function unlessAborted<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | null> {
  if (signal === undefined) return work();
  if (signal.aborted) return null;
  let onAbort = () => {};
  const aborted = new Promise<null>((resolve) => {
    onAbort = () => resolve(null);
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
