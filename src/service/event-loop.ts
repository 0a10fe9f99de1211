/** Ticks of the event loop from one piece of large work to the next. Node.js accepts one connection in each. */
const ticksApart = 8;
/**
 * Turns of begun work for one of new work, if both wait: a batch needs as many from its request to its end. Batches that
 * are accepted ahead of them find no room in their lane, and cost two more each.
 */
const turnsToEnd = 3;

type Begin = () => void;

/** Node.js's own: if a test's fake timers took one and never ran it, nothing would ever have a turn again. */
const takeTick = setImmediate;

/** Pieces that wait for their turns. All parts of a process share one event loop, so they share these. */
const waiting: Record<'new' | 'begun', Begin[]> = { new: [], begun: [] };
let isTaken = false;

/**
 * Resolves when a piece of large work may run: one after the other, with new connections and small work in between. A
 * turn is a moment, so nobody has to give it back.
 */
export function largeTurn(of: keyof typeof waiting = 'begun'): Promise<void> {
  return new Promise((resolve) => {
    waiting[of].push(resolve);
    if (!isTaken) void giveTurns();
  });
}

async function giveTurns(): Promise<void> {
  isTaken = true;
  // What has arrived in this tick runs first.
  await passTicks(1);
  for (let turn = 0; waiting.new.length + waiting.begun.length > 0; turn += 1) {
    const isForNew = turn % (turnsToEnd + 1) === turnsToEnd;
    const [first, second] = isForNew ? [waiting.new, waiting.begun] : [waiting.begun, waiting.new];
    (first.shift() ?? second.shift())?.();
    await passTicks(ticksApart);
  }
  isTaken = false;
}

async function passTicks(ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick += 1) await new Promise((resolve) => takeTick(resolve));
}
