import { pauseAfter } from '../../../client/resources/events.js';
import { type EventPage, type EventType, longestEventWait } from '../../../contract/index.js';
import type { Context } from '../../context.js';
import { offered } from '../../lookup/list.js';
import { lookupReader } from '../../lookup/wait.js';

/** The place before the oldest event that is kept. */
export const start = 'start';

/**
 * The feed after a cursor, page by page and without an end; a page may be empty. The first one comes at once, and its
 * failure ends the feed; later temporary failures are retried. Ends at a signal. `began` is called with the first one,
 * and `place` says where to go on, if not after the page.
 */
export async function* pagesOf(
  { io, clock, signal, network }: Pick<Context, 'io' | 'clock' | 'signal' | 'network'>,
  cursor: string,
  types: EventType[] | undefined,
  { began, place }: { began?: (first: EventPage) => Promise<void>; place?: () => string | null } = {},
): AsyncGenerator<EventPage, void> {
  const { events } = await network.client();
  const reader = lookupReader(
    { clock, signal },
    {
      timeout: () => Number.POSITIVE_INFINITY,
      onFault: ({ message }) => io.warn(`${message}; still trying`),
    },
  );
  const list = (after: string, wait = 0) =>
    events.list({ after: after === start ? undefined : after, types, wait }, { signal });
  let page = await list(cursor).catch((error) => {
    throw offered(error, 'Events are an extension. Look messages up instead: `urtuu messages list`');
  });
  await began?.(page);
  for (;;) {
    yield page;
    const asked = clock.elapsed();
    const after = place?.() ?? page.next;
    const reply = await reader.read(() => list(after, longestEventWait));
    if (signal.aborted) return;
    if (!('value' in reply)) throw reply.error;
    page = reply.value;
    await clock.sleep(pauseAfter(page, after, clock.elapsed() - asked), signal).catch(() => {});
  }
}
