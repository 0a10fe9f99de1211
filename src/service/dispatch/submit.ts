import { withoutLinks } from '../../contract/links.js';
import {
  type Carrier,
  type Fate,
  OutcomeUnknown,
  type Route,
  type SubmitResult,
} from '../carriers/carrier.js';
import type { Report } from '../report.js';
import { type Caps, cappedUntil } from '../storage/caps.js';
import type { ClaimedMessage, Content, Outcome } from '../storage/store.js';
import type { Deadlines } from './deadlines.js';
import type { Disposition } from './finalizer.js';
import type { Lane } from './lane.js';
import type { Held } from './slot.js';
import { delayAfterLater, delayAfterLoss, delayInDoubt, isWaitedFor, notAccepted } from './tries.js';

/** What a code looks like in the text of a verification. */
const hasCode = /[0-9]{4}/;
const codeExpired = 'its code has expired';

/** What a project allows now. */
export interface DispatchRules {
  caps: Caps;
  no_link_operators: readonly string[];
}

/** For the messages of one lease. */
export interface SubmitTools {
  routesOf(claimed: ClaimedMessage, rules: DispatchRules): readonly Route[];
  lane(name: string): Lane | undefined;
  decrypt(encrypted: Uint8Array): string;
  /** Marks the message for its next attempt; null when it is no longer in its lease. */
  mark(claimed: ClaimedMessage, route: string, doubtMs: number): Promise<ClaimedMessage | null>;
  deadlines: Deadlines;
  /** Milliseconds since the claim. */
  elapsed(): number;
  /** Whether the lease may have been ended. */
  isLeaseOver(): boolean;
  /** Called with what a carrier says after the deadline. */
  onLate(disposition: Disposition): void;
  report: Report;
}

type InquiryTools = Pick<SubmitTools, 'deadlines' | 'report'>;

/** Of a batch's project, known at once; of others, read for it. */
export type RulesOf = (projectId: string) => DispatchRules | Promise<DispatchRules>;

/**
 * Submits a claimed message over one route after the other. The mark is written before each submission, and nothing is
 * submitted without it. Never rejects: an error before a submission counts as a try, so that what can never be read or
 * decided fails and is refunded. One asynchronous function: a batch calls it a thousand times.
 */
export async function submitMessage(
  first: ClaimedMessage,
  rulesOf: RulesOf,
  tools: SubmitTools,
  held: Held,
): Promise<Disposition> {
  let claimed = first;
  let rules: DispatchRules;
  let content: Content;
  try {
    const known = rulesOf(claimed.message.projectId);
    rules = known instanceof Promise ? await known : known;
    content = readable(claimed.content, tools.decrypt);
  } catch (error) {
    tools.report(error);
    return lost(claimed, tools);
  }
  const refused = refusalOf(claimed, rules, tools);
  if (refused !== null) return { kind: 'final', claimed, outcome: { status: 'failed', error: refused } };
  const routes = tools.routesOf(claimed, rules);
  const from = Math.max(0, indexOfLane(routes, claimed.lane));
  let reason = 'no operator accepted the message';
  for (let index = from; index < routes.length; index += 1) {
    const route = routes[index] as Route;
    const lane = tools.lane(route.lane);
    if (lane === undefined || !lane.isOpen) {
      if (tools.elapsed() < claimed.boundMs) return again(claimed, { lane: route.lane });
      reason = `${route.name} cannot be reached`;
      if (isWaitedFor(claimed)) break;
      continue;
    }
    // Another lane has its own room.
    if (route.lane !== claimed.lane) return again(claimed, { lane: route.lane });
    const text = content.text === null || route.carriesLinks ? content.text : withoutLinks(content.text);
    const unsendable = unsendableOf(claimed.content, content.text, text);
    if (unsendable !== null) return failed(claimed, unsendable);
    const { carrier } = lane;
    if (carrier.reserve !== undefined) {
      held.reservation?.release();
      held.reservation = await carrier.reserve(route.name, claimed.message.batchId === null);
      // Waiting takes a while: the lane may have closed, or a code expired.
      if (held.reservation === null || !lane.isOpen || isExpired(claimed, tools)) return again(claimed, {});
    }
    if (tools.isLeaseOver()) return again(claimed, {});
    if (index > from || claimed.mark?.route !== route.name) {
      const marked = await tryToMark(claimed, route, carrier, tools);
      if (marked === 'error') return lost(claimed, tools);
      // Its own former attempt was certainly not taken.
      if (marked === null) return claimed.mark === null ? { kind: 'fenced' } : again(claimed, {});
      claimed = marked;
    }
    if (isExpired(claimed, tools)) return failed(claimed, codeExpired);
    let result: SubmitResult | 'deadline';
    try {
      result = await submit(claimed, route, content, text, carrier, tools, held.reservation ?? carrier);
    } catch (error) {
      if (error instanceof OutcomeUnknown) error.late?.then(onLateOf(claimed, tools), () => {});
      else tools.report(error);
      result = 'deadline';
    }
    if (result === 'deadline') {
      const fate = await fateOf(claimed, carrier, tools);
      if (fate === 'not_taken') return lost(claimed, tools);
      const outcome = outcomeOf(fate);
      if (outcome === null) return { kind: 'doubt', claimed, delayMs: delayInDoubt(0) };
      lane.resume();
      return { kind: 'final', claimed, outcome };
    }
    if (result.kind === 'accepted') {
      lane.resume();
      return { kind: 'final', claimed, outcome: sent(result) };
    }
    if (result.kind === 'refused') {
      reason = result.reason;
      lane.resume();
      if (!result.tryNextRoute) break;
      continue;
    }
    if (result.scope === 'lane') lane.pause(result.retryAfterMs);
    if (tools.elapsed() < claimed.boundMs) return later(claimed, result, tools);
    reason = result.reason;
    if (isWaitedFor(claimed)) break;
  }
  return failed(claimed, reason);
}

function refusalOf(
  { message, earlier, lifeMs }: ClaimedMessage,
  { caps }: DispatchRules,
  tools: SubmitTools,
) {
  if (earlier !== null && earlier.length > 0 && cappedUntil(earlier, caps, message.createdAt) !== null) {
    return {
      code: 'recipient_rate_limited',
      message: 'The recipient already got as many messages as the caps allow',
    };
  }
  return lifeMs !== null && tools.elapsed() >= lifeMs ? notAccepted(codeExpired) : null;
}

function isExpired({ lifeMs }: ClaimedMessage, tools: SubmitTools): boolean {
  return lifeMs !== null && tools.elapsed() >= lifeMs;
}

/** Of the first route with it; -1 for none. */
function indexOfLane(routes: readonly Route[], name: string): number {
  return routes.findIndex(({ lane }) => lane === name);
}

async function tryToMark(claimed: ClaimedMessage, route: Route, carrier: Carrier, tools: SubmitTools) {
  try {
    return await tools.mark(claimed, route.name, carrier.doubtMs);
  } catch (error) {
    // Where it was written nevertheless, its fence keeps everybody off, until the doubt is looked into.
    tools.report(error);
    return 'error';
  }
}

function submit(
  claimed: ClaimedMessage,
  route: Route,
  content: Content,
  text: string | null,
  { submitMs }: Carrier,
  tools: SubmitTools,
  to: Pick<Carrier, 'submit'>,
): Promise<SubmitResult | 'deadline'> {
  const { message, attempts, lifeMs } = claimed;
  const submission = {
    reference: message.id,
    attempt: attempts,
    channel: message.channel,
    route: route.name,
    to: message.to,
    text,
    subject: content.subject,
    html: content.html,
    from: content.from,
    replyTo: content.replyTo,
    lifeMs: lifeMs === null ? null : lifeMs - tools.elapsed(),
  };
  const submitting = (signal: AbortSignal) => to.submit(submission, signal);
  return tools.deadlines.race(submitMs, submitting, onLateOf(claimed, tools));
}

const onLateOf = (claimed: ClaimedMessage, tools: SubmitTools) => (late: SubmitResult) =>
  tools.onLate(lateDisposition(claimed, late, tools));

/** Its mark fences it still: what was certainly not taken is no doubt any more. */
function lateDisposition(claimed: ClaimedMessage, late: SubmitResult, tools: SubmitTools): Disposition {
  if (late.kind === 'accepted') return { kind: 'final', claimed, outcome: sent(late) };
  const isRefused = late.kind === 'refused' && !late.tryNextRoute;
  return isRefused ? failed(claimed, late.reason) : lost(claimed, tools);
}

/** Looks into a doubt: the carrier is asked, where it can be; at its end it is undecidable. */
export async function resolveDoubt(
  claimed: ClaimedMessage,
  carrier: Carrier,
  tools: InquiryTools,
): Promise<Disposition> {
  const fate = await fateOf(claimed, carrier, tools);
  const left = claimed.doubtMs ?? carrier.doubtMs;
  if (fate === 'not_taken') return again(claimed, {});
  const outcome = outcomeOf(fate === 'unknown' && left <= 0 ? 'undecidable' : fate);
  if (outcome !== null) return { kind: 'final', claimed, outcome };
  return { kind: 'doubt', claimed, delayMs: Math.min(delayInDoubt(carrier.doubtMs - left), left) };
}

async function fateOf(
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

function outcomeOf(fate: Fate): Outcome | null {
  if (fate === 'taken') return { status: 'sent', carrierIds: [], delivery: null };
  return fate === 'undecidable' ? { status: 'sent', carrierIds: [], delivery: 'unknown' } : null;
}

const sentWithoutReceipts: Outcome = { status: 'sent', carrierIds: [], delivery: null };

function sent({ carrierIds, delivery }: Extract<SubmitResult, { kind: 'accepted' }>): Outcome {
  if (carrierIds.length === 0 && delivery === undefined) return sentWithoutReceipts;
  return { status: 'sent', carrierIds, delivery: delivery ?? null };
}

function failed(claimed: ClaimedMessage, reason: string): Disposition {
  return { kind: 'final', claimed, outcome: { status: 'failed', error: notAccepted(reason) } };
}

/** Back to its lane, or to that of its next route, at once. */
function again(claimed: ClaimedMessage, to: { lane?: string }): Disposition {
  return { kind: 'again', claimed, delayMs: 0, isTry: false, ...to };
}

/** Certainly not taken, and not because the carrier put it off. */
function lost(claimed: ClaimedMessage, tools: SubmitTools): Disposition {
  const left = claimed.boundMs - tools.elapsed();
  const delayMs = isWaitedFor(claimed) && left <= 0 ? null : delayAfterLoss(claimed.tries);
  if (delayMs === null) return failed(claimed, 'it could not be reached');
  return { kind: 'again', claimed, delayMs, isTry: true };
}

function later(
  claimed: ClaimedMessage,
  { scope, retryAfterMs }: Extract<SubmitResult, { kind: 'later' }>,
  tools: SubmitTools,
): Disposition {
  // The lane pauses, not the message.
  if (scope === 'lane') return again(claimed, {});
  const left = claimed.boundMs - tools.elapsed();
  return {
    kind: 'again',
    claimed,
    delayMs: Math.min(delayAfterLater(claimed.tries, retryAfterMs), left),
    isTry: true,
  };
}

function readable(content: Content, decrypt: SubmitTools['decrypt']): Content {
  const { encrypted } = content;
  return encrypted === null ? content : { ...content, text: decrypt(encrypted) };
}

/** Why a text cannot go over a route that carries no links; null when it can. */
function unsendableOf({ encrypted }: Content, whole: string | null, text: string | null): string | null {
  if (text === whole) return null;
  if (text === null) return 'the message is only a link, and its route carries no links';
  if (encrypted !== null && !hasCode.test(text)) {
    return 'its code is in a link, and its route carries no links';
  }
  return null;
}
