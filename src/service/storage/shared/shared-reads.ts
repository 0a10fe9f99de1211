/** Reads once for all calls in a tick of the event loop: none of them can follow a change that the read did not see. */
export function sharedReads<Value>(read: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const reads = new Map<string, Promise<Value>>();
  return (key) => {
    let value = reads.get(key);
    if (value === undefined) {
      if (reads.size === 0) process.nextTick(() => reads.clear());
      value = read(key);
      reads.set(key, value);
    }
    return value;
  };
}
