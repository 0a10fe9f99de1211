import type { Accepted, Repeats } from '../carriers/carrier.js';
import type { ClaimedMessage } from '../storage/store.js';
import type { SharedTools } from './lease-tools.js';
import type { Held } from './slot.js';

export interface Repeated {
  /** With the mark of the repeat, if it was made. */
  claimed: ClaimedMessage;
  accepted: Accepted | null;
}

/** Repeats the request of a message in doubt, if it may be sent again. Never rejects. */
export async function repeatRequest(
  given: ClaimedMessage,
  repeats: Repeats,
  submitMs: number,
  tools: SharedTools,
  held: Held,
): Promise<Repeated> {
  let claimed = given;
  const nothing = () => ({ claimed, accepted: null });
  try {
    const since = tools.leases.beginningOf(claimed.token);
    const room = await repeats.reserve();
    held.repeat = room;
    const { lifeMs, isStopped, message } = claimed;
    const isExpired = lifeMs !== null && tools.clock.monotonic() - since >= lifeMs;
    if (room === null || isStopped || isExpired) return nothing();
    const askedAt = tools.clock.now();
    const marked = await tools.store.markRepeating(claimed, repeats.withinMs);
    if (marked === null) return nothing();
    claimed = marked.claimed;
    // The machine slept meanwhile, so the gateway may have forgotten the key.
    if (Math.abs(tools.clock.now() - askedAt) > submitMs) return nothing();
    const request = tools.decrypt(marked.request);
    const repeat = (signal: AbortSignal) => room.repeat(request, message.id, signal);
    const answer = await tools.deadlines.race(submitMs, repeat, () => {});
    return { claimed, accepted: answer === 'deadline' ? null : answer };
  } catch (error) {
    tools.report(error);
    return nothing();
  }
}
