/** Turns of the event loop from one large piece of work to the next. Node.js accepts one connection in each. */
const turnsBetween = 8;

/** Lets new connections and small work come in before the next large piece of work. */
export async function passTurns(): Promise<void> {
  for (let turn = 0; turn < turnsBetween; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
