import type { MessageError } from '../../contract/index.js';
import { type Carrier, type Fate, OutcomeUnknown } from '../carriers/carrier.js';
import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import type { ClaimedMessage, Content, Outcome } from '../storage/store.js';
import { withoutLinks } from './links.js';
import { routesOf } from './routes.js';

/** Milliseconds before the end of a lease in which nothing is handed over any more. */
const leaseMargin = 500;

/** What a code looks like in the text of a verification. */
const hasCode = /[0-9]{4}/;

export interface HandOverTools {
  carrier: Carrier;
  clock: Clock;
  /** Opens a text that was stored encrypted. */
  open(sealed: Uint8Array): string;
  /** Until when, on the monotonic clock, the lease of a message lasts, as last renewed. */
  deadline(claimed: ClaimedMessage): number;
  report: Report;
}

export interface HandOverRules {
  noLinkOperators: readonly string[];
  /** Why it is not to be submitted at all. */
  refusal: MessageError | null;
}

/**
 * `unknown`: it may have been taken, ask again. `again`: it certainly was not, hand it over again. `late`: the same,
 * and no carrier was tried, for the lease was nearly over.
 */
export type HandOver = Outcome | { status: 'unknown' | 'again' | 'late' };

/**
 * Takes a claimed message to its carrier, over one route after the other. A message that may have been handed
 * over before is asked about first, and one that was taken is never handed over again. When it throws, no attempt
 * was taken.
 */
export async function handOver(
  claimed: ClaimedMessage,
  readRules: () => Promise<HandOverRules>,
  tools: HandOverTools,
): Promise<HandOver> {
  if (claimed.attempts > 1) {
    const fate = await ask(claimed, tools, claimed.attempts);
    if (fate !== 'not_taken') return { status: fate === 'taken' ? 'sent' : 'unknown' };
  }
  const rules = await readRules();
  if (rules.refusal !== null) return { status: 'failed', error: rules.refusal };
  const { message } = claimed;
  const content = readable(claimed.content, tools.open);
  let reason = 'no operator accepted the message';
  for (const route of routesOf(message, rules.noLinkOperators)) {
    const text = content.text === null || route.carriesLinks ? content.text : withoutLinks(content.text);
    if (text === null && content.text !== null) {
      reason = 'the message is only a link, and its route carries no links';
      break;
    }
    if (text !== content.text && claimed.content.sealed !== null && !hasCode.test(text ?? '')) {
      reason = 'its code is in a link, and its route carries no links';
      break;
    }
    if (tools.clock.monotonic() > tools.deadline(claimed) - leaseMargin) return { status: 'late' };
    try {
      const answer = await tools.carrier.submit({
        reference: message.id,
        attempt: claimed.attempts,
        channel: message.channel,
        route: route.name,
        to: message.to,
        ...content,
        text,
      });
      if (answer.kind === 'accepted') return { status: 'sent' };
      reason = answer.reason;
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) tools.report(error);
      const fate = await ask(claimed, tools, claimed.attempts + 1);
      return { status: fate === 'taken' ? 'sent' : fate === 'not_taken' ? 'again' : 'unknown' };
    }
  }
  return { status: 'failed', error: notAccepted(reason) };
}

export function notAccepted(reason: string): MessageError {
  return { code: 'provider_failed', message: `The operator did not accept the message: ${reason}` };
}

async function ask(
  { message }: ClaimedMessage,
  { carrier, report }: HandOverTools,
  before: number,
): Promise<Fate> {
  try {
    return await carrier.inquire(message.id, message.to, before);
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) report(error);
    return 'unknown';
  }
}

function readable({ sealed, ...content }: Content, open: HandOverTools['open']): Omit<Content, 'sealed'> {
  return sealed === null ? content : { ...content, text: open(sealed) };
}
