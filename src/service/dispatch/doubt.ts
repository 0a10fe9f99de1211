import { type Accepted, type Carrier, type Fate, OutcomeUnknown, type Repeats } from '../carriers/carrier.js';
import { outcomeOfReceipts } from '../storage/dispatching.js';
import type { ClaimedMessage, Outcome } from '../storage/store.js';
import { again, sent } from './dispositions.js';
import type { Disposition } from './finalizer.js';
import type { SharedTools } from './lease-tools.js';
import type { Held } from './slot.js';
import { delayInDoubt } from './tries.js';

/** Milliseconds between repeats for a doubt that had already expired when the service started. */
const afterDeadline = 5_000;

/**
 * Tries to resolve a doubt: with receipts that arrived before it, else by repeating the request or asking the
 * carrier, where possible. After its deadline it is undecidable.
 */
export async function resolveDoubt(
  given: ClaimedMessage,
  { carrier, name }: { carrier: Carrier; name: string },
  tools: SharedTools,
  held: Held,
): Promise<Disposition> {
  const received = outcomeOfReceipts(given);
  if (received !== null) return { kind: 'final', claimed: given, outcome: received };
  const { doubtMs } = carrier;
  const left = given.doubtMs ?? doubtMs;
  const repeats = carrier.repeatsOf?.(name) ?? null;
  if (repeats !== null) {
    const { claimed, accepted } = await repeatRequest(given, repeats, carrier.submitMs, tools, held);
    if (accepted !== null) return { kind: 'final', claimed, outcome: sent(accepted) };
    if (left > 0 || !repeats.isNew) return ofFate('unknown', claimed, { left, doubtMs, isRepeated: true });
    return { kind: 'doubt', claimed, delayMs: afterDeadline };
  }
  return ofFate(await fateOf(given, carrier, tools), given, { left, doubtMs, isRepeated: false });
}

/**
 * Repeats the request of a message in doubt, if it may be sent again. `claimed` has the mark of the repeat, if it was made.
 * Never rejects.
 */
async function repeatRequest(
  given: ClaimedMessage,
  repeats: Repeats,
  submitMs: number,
  tools: SharedTools,
  held: Held,
): Promise<{ claimed: ClaimedMessage; accepted: Accepted | null }> {
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

function ofFate(
  fate: Fate,
  claimed: ClaimedMessage,
  { left, doubtMs, isRepeated }: { left: number; doubtMs: number; isRepeated: boolean },
): Disposition {
  if (fate === 'not_taken') return again(claimed, {});
  const outcome = outcomeOf(fate === 'unknown' && left <= 0 ? 'undecidable' : fate);
  if (outcome !== null) return { kind: 'final', claimed, outcome };
  const delayMs = Math.min(delayInDoubt(doubtMs - left, isRepeated), left);
  return { kind: 'doubt', claimed, delayMs };
}

/** Never rejects. */
export async function fateOf(
  { message, attempts }: ClaimedMessage,
  carrier: Carrier,
  { deadlines, report }: SharedTools,
): Promise<Fate> {
  try {
    const inquire = async () => (await carrier.inquire?.(message.id, message.to, attempts + 1)) ?? 'unknown';
    // An inquiry without an answer must not keep the message, nor its room in the lane.
    const fate = await deadlines.race<Fate>(carrier.submitMs, inquire, () => {});
    return fate === 'deadline' ? 'unknown' : fate;
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) report(error);
    return 'unknown';
  }
}

/** Null while the outcome is open. */
export function outcomeOf(fate: Fate): Outcome | null {
  if (fate === 'taken') return { status: 'sent', carrierIds: [], delivery: null };
  return fate === 'undecidable' ? { status: 'sent', carrierIds: [], delivery: 'unknown' } : null;
}
