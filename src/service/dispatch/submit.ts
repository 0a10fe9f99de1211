import {
  type Carrier,
  type Fate,
  OutcomeUnknown,
  type Reservation,
  type Route,
  type SubmitResult,
} from '../carriers/carrier.js';
import type { Report } from '../report.js';
import { type Caps, cappedUntil } from '../storage/caps.js';
import type { ClaimedMessage, Content, Outcome } from '../storage/store.js';
import type { Deadlines } from './deadlines.js';
import type { Disposition } from './finalizer.js';
import type { Lane } from './lane.js';
import { withoutLinks } from './links.js';
import { delayAfterLater, delayAfterLoss, delayInDoubt, isWaitedFor, notAccepted } from './tries.js';

/** What a code looks like in the text of a verification. */
const hasCode = /[0-9]{4}/;

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

/** Room in a carrier, which its holder releases once the disposition is written. */
export interface Held {
  reservation?: Reservation | null | undefined;
}

type InquiryTools = Pick<SubmitTools, 'deadlines' | 'report'>;

/**
 * Submits a claimed message over one route after the other. The mark is written before each submission, and nothing is
 * submitted without it. Never rejects: an error before a submission counts as a try, so that what can never be read or
 * decided fails and is refunded.
 */
export async function submitMessage(
  claimed: ClaimedMessage,
  rulesOf: (projectId: string) => DispatchRules | Promise<DispatchRules>,
  tools: SubmitTools,
  held: Held,
): Promise<Disposition> {
  let rules: DispatchRules;
  let content: Content;
  try {
    rules = await rulesOf(claimed.message.projectId);
    content = readable(claimed.content, tools.decrypt);
  } catch (error) {
    tools.report(error);
    return lost(claimed, tools);
  }
  const refused = refusalOf(claimed, rules, tools.elapsed());
  if (refused !== null) return { kind: 'final', claimed, outcome: { status: 'failed', error: refused } };
  return overRoutes(claimed, content, tools.routesOf(claimed, rules), tools, held);
}

function refusalOf({ message, earlier, lifeMs }: ClaimedMessage, { caps }: DispatchRules, elapsed: number) {
  if (earlier !== null && cappedUntil(earlier, caps, message.createdAt) !== null) {
    return {
      code: 'recipient_rate_limited',
      message: 'The recipient already got as many messages as the caps allow',
    };
  }
  return lifeMs !== null && elapsed >= lifeMs ? notAccepted('its code has expired') : null;
}

function isExpired({ lifeMs }: ClaimedMessage, tools: SubmitTools): boolean {
  return lifeMs !== null && tools.elapsed() >= lifeMs;
}

async function overRoutes(
  first: ClaimedMessage,
  content: Content,
  routes: readonly Route[],
  tools: SubmitTools,
  held: Held,
): Promise<Disposition> {
  const from =
    routes[0]?.lane === first.lane
      ? 0
      : Math.max(
          0,
          routes.findIndex(({ lane }) => lane === first.lane),
        );
  let claimed = first;
  let reason = 'no operator accepted the message';
  for (let index = from; index < routes.length; index += 1) {
    const route = routes[index] as Route;
    const lane = tools.lane(route.lane);
    const isOverdue = tools.elapsed() >= claimed.boundMs;
    if (lane === undefined || !lane.isOpen) {
      if (!isOverdue) return again(claimed, { lane: route.lane });
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
    held.reservation?.release();
    held.reservation =
      carrier.reserve && (await carrier.reserve(route.name, claimed.message.batchId === null));
    // Waiting for room takes a while.
    if (held.reservation === null || !lane.isOpen || tools.isLeaseOver() || isExpired(claimed, tools))
      return again(claimed, {});
    if (index > from || claimed.mark?.route !== route.name) {
      const marked = await tryToMark(claimed, route, carrier, tools);
      if (marked === 'error') return lost(claimed, tools);
      // Its own former attempt was certainly not taken.
      if (marked === null) return claimed.mark === null ? { kind: 'fenced' } : again(claimed, {});
      claimed = marked;
    }
    const result = await submit(claimed, route, content, text, held.reservation ?? carrier, carrier, tools);
    if ('status' in result) {
      lane.resume();
      return { kind: 'final', claimed, outcome: result };
    }
    if (result.kind === 'lost') return lost(claimed, tools);
    if (result.kind === 'unknown') return { kind: 'doubt', claimed, delayMs: delayInDoubt(0) };
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

async function tryToMark(claimed: ClaimedMessage, route: Route, carrier: Carrier, tools: SubmitTools) {
  try {
    return await tools.mark(claimed, route.name, carrier.doubtMs);
  } catch (error) {
    // Where it was written nevertheless, its fence keeps everybody off, until the doubt is looked into.
    tools.report(error);
    return 'error';
  }
}

type Submitted =
  | Outcome
  | { kind: 'lost' }
  | { kind: 'unknown' }
  | Exclude<SubmitResult, { kind: 'accepted' }>;

async function submit(
  claimed: ClaimedMessage,
  route: Route,
  content: Content,
  text: string | null,
  room: Pick<Carrier, 'submit'>,
  carrier: Carrier,
  tools: SubmitTools,
): Promise<Submitted> {
  const { message, attempts } = claimed;
  const onLate = (late: SubmitResult) => tools.onLate(lateDisposition(claimed, late, tools));
  try {
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
      ...(claimed.lifeMs === null ? {} : { lifeMs: claimed.lifeMs - tools.elapsed() }),
    };
    const submitting = (signal: AbortSignal) => room.submit(submission, signal);
    const result = await tools.deadlines.race(carrier.submitMs, submitting, onLate);
    if (result !== 'deadline') return result.kind === 'accepted' ? sent(result) : result;
  } catch (error) {
    if (error instanceof OutcomeUnknown) error.late?.then(onLate, () => {});
    else tools.report(error);
  }
  const fate = await fateOf(claimed, carrier, tools);
  return fate === 'not_taken' ? { kind: 'lost' } : (outcomeOf(fate) ?? { kind: 'unknown' });
}

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

function sent({ carrierIds, delivery }: Extract<SubmitResult, { kind: 'accepted' }>): Outcome {
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
