import type { MessageError } from '../../contract/index.js';
import { withoutLinks } from '../../contract/links.js';
import { type Carrier, OutcomeUnknown, type Route, type SubmitResult } from '../carriers/carrier.js';
import { capsOf } from '../settings.js';
import { cappedUntil } from '../storage/caps.js';
import { isListMessage, nextRouteBefore } from '../storage/dispatching.js';
import type { ClaimedMessage, Content, Tried } from '../storage/store.js';
import { again, failed, later, lost, sent } from './dispositions.js';
import { fateOf, outcomeOf } from './doubt.js';
import type { Disposition } from './finalizer.js';
import type { LeaseTools, SharedTools } from './lease-tools.js';
import type { DispatchRules, RulesOf } from './parts.js';
import type { Held } from './slot.js';
import { submissionOf } from './submission.js';
import {
  batchStopped,
  boundInLane,
  delayInDoubt,
  isWaitedFor,
  notAccepted,
  notSubmitted,
  suppressed,
  throttled,
} from './tries.js';

/** What a code in the text of a verification may look like. */
const hasCode = /[0-9]{4}/;
const codeExpired = 'its code has expired';
/** Milliseconds until a message that a caller waits for checks again whether its lane is open. */
const whileClosed = 250;
/** Milliseconds until any message checks again whether it may be sent. */
const longestWait = 1_000;

/**
 * Submits a claimed message over one route after another. The mark is written before each submission, and nothing is
 * submitted without one. Never rejects: an error before a submission counts as an attempt, so that a message that can
 * never be read or decrypted fails and is refunded. A single asynchronous function, because a batch calls it a
 * thousand times.
 */
export async function submitMessage(
  first: ClaimedMessage,
  rulesOf: RulesOf,
  tools: LeaseTools,
  held: Held,
): Promise<Disposition> {
  const { deadlines, report, show } = tools.shared;
  let claimed = first;
  let rules: DispatchRules;
  let content: Content;
  try {
    const known = rulesOf(claimed.message.projectId);
    rules = known instanceof Promise ? await known : known;
    content = readable(claimed.content, tools.shared.decrypt);
  } catch (error) {
    report(error);
    return lost(claimed, tools);
  }
  const refused = refusalOf(claimed, rules, tools);
  if (refused !== null) {
    // Who is suppressed is asked before the caps.
    const reason =
      refused.code === 'recipient_rate_limited' ? await tools.suppressionOf(claimed.message) : null;
    return failed(claimed, reason === null ? refused : suppressed(reason));
  }
  const routes = tools.shared.routesOf(claimed.message, rules);
  const from = Math.max(0, indexOfLane(routes, claimed.lane));
  const isWaited = isWaitedFor(claimed);
  let failure = notAccepted('no operator accepted the message');
  let answer: Tried | undefined;
  let isUnknownRecipient = false;
  for (let index = from; index < routes.length; index += 1) {
    if (isWaited && index > from && tools.elapsed() >= claimed.boundMs) break;
    const route = routes[index] as Route;
    const lane = tools.shared.lanes.get(route.lane);
    const bound = isWaited ? claimed.boundMs : boundInLane(claimed, lane?.heldUpAgo ?? null);
    // After that, it takes the next route or fails.
    const end = isWaited && index < routes.length - 1 ? bound - nextRouteBefore : bound;
    const closed = lane === undefined ? `${route.name} is not connected` : lane.closedBecause;
    if (lane === undefined || closed !== null) {
      const delayMs = isWaited ? whileClosed : 0;
      if (tools.elapsed() < end) return again(claimed, { lane: route.lane, delayMs }, answer);
      failure = notSubmitted(claimed, closed ?? '');
      continue;
    }
    // Another lane has separate room.
    if (route.lane !== claimed.lane) return again(claimed, { lane: route.lane }, answer);
    const text = content.text === null || route.carriesLinks ? content.text : withoutLinks(content.text);
    const unsendable = unsendableOf(claimed.content, content.text, text);
    if (unsendable !== null) return failed(claimed, notAccepted(unsendable));
    let wait = lane.troubles.waitOf(claimed);
    if (wait > 0) {
      if (tools.elapsed() < end) return again(claimed, { delayMs: Math.min(wait, longestWait) }, answer);
      failure = notSubmitted(claimed, `the lane ${lane.name} is paused`);
      continue;
    }
    const { carrier } = lane;
    if (carrier.reserve !== undefined) {
      held.reservation?.release();
      const reserved = carrier.reserve(route.name, isWaited || !isListMessage(claimed));
      held.reservation = isWaited ? await tools.within(reserved, end - tools.elapsed()) : await reserved;
      // Waiting takes time: the lane may have closed, or a code expired.
      if (held.reservation === null || !lane.isOpen || isExpired(claimed, tools)) {
        if (!isWaited || tools.elapsed() < end || !lane.isOpen) return again(claimed, {}, answer);
        failure = notSubmitted(
          claimed,
          `${route.name} ${lane.troubles.isThrottled ? 'is throttled' : 'had no free slot in time'}`,
        );
        continue;
      }
    }
    wait = lane.troubles.admit(claimed);
    if (wait > 0) return again(claimed, { delayMs: Math.min(wait, longestWait) }, answer);
    let begunAt = tools.shared.clock.monotonic();
    if (tools.isLeaseOver(begunAt)) return again(claimed, {}, answer);
    if (index > from || claimed.mark?.route !== route.name) {
      const marked = await tryToMark(claimed, route.name, text, { carrier, held }, tools);
      if (marked === 'error') return lost(claimed, tools);
      // Its own last attempt was certainly not accepted. Its lane may be paused, or its project quiet.
      if (marked === null) {
        if (!isWaited || tools.elapsed() < end)
          return again(claimed, isWaited ? { delayMs: whileClosed } : {}, answer);
        failure = notSubmitted(claimed, 'it may not be sent now');
        continue;
      }
      if ('suppressed' in marked) return failed(claimed, suppressed(marked.suppressed), answer);
      claimed = marked;
      begunAt = tools.shared.clock.monotonic();
      // The process was stopped meanwhile: what the mark allowed may not be allowed any more.
      if (tools.isLeaseOver(begunAt)) return again(claimed, {}, answer);
    }
    if (isExpired(claimed, tools)) return failed(claimed, notAccepted(codeExpired));
    let result: SubmitResult | 'deadline';
    try {
      const submission = submissionOf(claimed, route.name, { ...content, text }, rules, tools);
      const to = held.reservation ?? carrier;
      const submitting = (signal: AbortSignal) => to.submit(submission, signal);
      result = await deadlines.race(carrier.submitMs, submitting, onLateOf(claimed, tools));
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) report(error);
      else {
        if (error.pausedBy !== null) lane.doubted(error.pausedBy);
        error.late?.then(onLateOf(claimed, tools), () => {});
      }
      result = 'deadline';
    }
    if (result === 'deadline') {
      const fate = await fateOf(claimed, carrier, tools.shared);
      if (fate === 'not_taken') return lost(claimed, tools);
      const outcome = outcomeOf(fate);
      if (outcome === null)
        return { kind: 'doubt', claimed, delayMs: delayInDoubt(0, !!carrier.repeatsOf?.(route.name)) };
      if (fate === 'taken') lane.accepted(claimed);
      return { kind: 'final', claimed, outcome };
    }
    if (result.kind === 'accepted') {
      lane.accepted(claimed);
      return { kind: 'final', claimed, outcome: sent(result) };
    }
    if (result.kind === 'refused') {
      failure = notAccepted(result.reason);
      answer = { kind: 'refused', route: route.name, ...show(result) };
      isUnknownRecipient = result.isUnknownRecipient === true;
      lane.refused(claimed, result);
      if (!result.tryNextRoute) break;
      continue;
    }
    const scope = lane.deferred(claimed, result, begunAt);
    if (scope === 'lane') {
      if (tools.elapsed() < end) return again(claimed, {}, answer);
      failure = notSubmitted(claimed, result.reason);
      continue;
    }
    answer = { kind: scope, route: route.name, ...show(result) };
    const left = end - tools.elapsed();
    // Before the time that the carrier names, another attempt is in vain.
    if (left > 0 && (result.retryAfterMs ?? 0) <= left) return later(claimed, scope, result, answer, left);
    failure = scope === 'rate' ? throttled(result.reason) : notAccepted(result.reason);
  }
  if (isUnknownRecipient && rules.suppressions) await tools.suppressUnknown(claimed.message);
  return failed(claimed, failure, answer);
}

function refusalOf(claimed: ClaimedMessage, rules: DispatchRules, tools: LeaseTools): MessageError | null {
  const { message, earlier, isStopped } = claimed;
  if (isStopped) return batchStopped;
  if (
    earlier !== null &&
    earlier.all.length > 0 &&
    cappedUntil(earlier, capsOf(rules), message.createdAt) !== null
  ) {
    return {
      code: 'recipient_rate_limited',
      message: 'The recipient already got as many messages as the caps allow',
    };
  }
  return isExpired(claimed, tools) ? notAccepted(codeExpired) : null;
}

function isExpired({ lifeMs }: ClaimedMessage, tools: LeaseTools): boolean {
  return lifeMs !== null && tools.elapsed() >= lifeMs;
}

/** Index of the first route in the lane; -1 if there is none. */
function indexOfLane(routes: readonly Route[], name: string): number {
  return routes.findIndex(({ lane }) => lane === name);
}

async function tryToMark(
  claimed: ClaimedMessage,
  route: string,
  text: string | null,
  { carrier: { doubtMs }, held }: { carrier: Carrier; held: Held },
  tools: LeaseTools,
) {
  try {
    const { id: reference, to } = claimed.message;
    const request = held.reservation?.request?.({ reference, to, text });
    return await tools.mark(claimed, { route, doubtMs, request });
  } catch (error) {
    // If the mark was written after all, it fences every process until the doubt is resolved.
    tools.shared.report(error);
    return 'error';
  }
}

const onLateOf = (claimed: ClaimedMessage, tools: LeaseTools) => (late: SubmitResult) =>
  tools.shared.onLate(lateDisposition(claimed, late, tools));

/** Its mark still fences the message: if it was certainly not accepted, it is no longer in doubt. */
function lateDisposition(claimed: ClaimedMessage, late: SubmitResult, tools: LeaseTools): Disposition {
  if (late.kind === 'accepted') return { kind: 'final', claimed, outcome: sent(late) };
  const isRefused = late.kind === 'refused' && !late.tryNextRoute;
  return isRefused ? failed(claimed, notAccepted(late.reason)) : lost(claimed, tools);
}

function readable(content: Content, decrypt: SharedTools['decrypt']): Content {
  const { encrypted } = content;
  return encrypted === null ? content : { ...content, text: decrypt(encrypted) };
}

/** Why a text cannot be sent over a route without links; null if it can. */
function unsendableOf({ encrypted }: Content, whole: string | null, text: string | null): string | null {
  if (text === whole) return null;
  if (text === null) return 'the message is only a link, and its route carries no links';
  if (encrypted !== null && !hasCode.test(text)) {
    return 'its code is in a link, and its route carries no links';
  }
  return null;
}
