import { type Carrier, type Fate, OutcomeUnknown } from '../carriers/carrier.js';
import type { Report } from '../report.js';
import { outcomeOfReceipts } from '../storage/joined-doubt.js';
import type { ClaimedMessage, Outcome } from '../storage/store.js';
import type { Deadlines } from './deadlines.js';
import { again } from './dispositions.js';
import type { Disposition } from './finalizer.js';
import { delayInDoubt } from './tries.js';

interface InquiryTools {
  deadlines: Deadlines;
  report: Report;
}

/** Looks into a doubt: into receipts that came before it, then the carrier is asked, where it can be; at its end it is undecidable. */
export async function resolveDoubt(
  claimed: ClaimedMessage,
  carrier: Carrier,
  tools: InquiryTools,
): Promise<Disposition> {
  const received = outcomeOfReceipts(claimed);
  if (received !== null) return { kind: 'final', claimed, outcome: received };
  const fate = await fateOf(claimed, carrier, tools);
  const left = claimed.doubtMs ?? carrier.doubtMs;
  if (fate === 'not_taken') return again(claimed, {});
  const outcome = outcomeOf(fate === 'unknown' && left <= 0 ? 'undecidable' : fate);
  if (outcome !== null) return { kind: 'final', claimed, outcome };
  return { kind: 'doubt', claimed, delayMs: Math.min(delayInDoubt(carrier.doubtMs - left), left) };
}

/** Never rejects. */
export async function fateOf(
  { message, attempts }: ClaimedMessage,
  carrier: Carrier,
  { deadlines, report }: InquiryTools,
): Promise<Fate> {
  try {
    const inquire = async () => (await carrier.inquire?.(message.id, message.to, attempts + 1)) ?? 'unknown';
    // One without an answer must not keep the message, nor its room in the lane.
    const fate = await deadlines.race<Fate>(carrier.submitMs, inquire, () => {});
    return fate === 'deadline' ? 'unknown' : fate;
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) report(error);
    return 'unknown';
  }
}

/** Null while it is open. */
export function outcomeOf(fate: Fate): Outcome | null {
  if (fate === 'taken') return { status: 'sent', carrierIds: [], delivery: null };
  return fate === 'undecidable' ? { status: 'sent', carrierIds: [], delivery: 'unknown' } : null;
}
