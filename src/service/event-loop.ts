/** Turns of the event loop between two large pieces of work. Node.js accepts one connection in each. */
const turnsBetween = 8;

/** Lets new connections and small work run before the next large piece of work. */
export async function passTurns(): Promise<void> {
  for (let turn = 0; turn < turnsBetween; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
