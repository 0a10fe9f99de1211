import type { EventPage, UrtuuEvent } from '../../../contract/index.js';
import type { Context } from '../../context.js';
import { backoff } from '../../time/retry-delay.js';
import type { Listener } from './listener.js';

/** Delivers an event: null once it was taken, or why it was not. */
export type Deliver = (event: UrtuuEvent) => Promise<string | null>;

/** How often an event is tried, about 10 minutes, before the next warning. */
const warnEvery = 20;

/**
 * Delivers one event after the other, and moves the listener past each that was taken; `pages` begin where it is. One
 * that was not is read again before the next try: it may have been erased since. Returns at a signal, between events.
 */
export async function deliverAll(
  { io, clock, signal, network }: Pick<Context, 'io' | 'clock' | 'signal' | 'network'>,
  pages: AsyncIterable<EventPage>,
  listener: Pick<Listener, 'name' | 'place' | 'skips' | 'waitAt' | 'moveTo'>,
  deliver: Deliver,
): Promise<void> {
  let tries = 0;
  for await (const { data, next } of pages) {
    for (const event of data) {
      const { id, type, at } = event;
      const isLeftOut = listener.skips(id);
      const fault = isLeftOut ? null : await deliver(event);
      if (fault === null) {
        await listener.moveTo(id, at);
        io.note(`${type} ${id}: ${isLeftOut ? 'left out' : 'taken'}`);
        tries = 0;
      } else {
        tries += 1;
        if (tries === 1) await listener.waitAt(id);
        if (tries % warnEvery === 1)
          io.warn(
            `${type} ${id} was not taken (${fault}); still trying. To skip it: \`urtuu events skip ${id} --name ${listener.name}\``,
          );
        await clock.sleep(backoff(tries, network.random()), signal).catch(() => {});
      }
      if (signal.aborted) return;
      if (tries > 0) break;
    }
    // What `types` left out is passed too.
    if (tries === 0 && next !== listener.place?.cursor) await listener.moveTo(next);
  }
}
