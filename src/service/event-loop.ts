/** Ticks of the event loop between two large pieces of work. Node.js accepts one connection in each. */
const ticksBetween = 8;

/** Lets new connections and small work run before the next large piece of work. */
export async function passTicks(): Promise<void> {
  for (let tick = 0; tick < ticksBetween; tick += 1) await new Promise((resolve) => setImmediate(resolve));
}
