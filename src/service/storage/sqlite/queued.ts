import type { BatchAcceptance, MessageAcceptance } from '../acceptance.js';
import type { ClaimedMessage } from '../dispatching.js';
import type { Instant, MessageRecord } from '../records.js';

type AnyAcceptance = MessageAcceptance | BatchAcceptance;

export function queuedMessage(
  { projectId, channel, parts, rateMultiplier, credits }: AnyAcceptance,
  { id, to, operator }: { id: string; to: string; operator: string | null },
  batchId: string | null,
  createdAt: Instant,
): MessageRecord {
  return {
    id,
    projectId,
    batchId,
    channel,
    to,
    operator,
    status: 'queued',
    parts,
    rateMultiplier,
    credits,
    error: null,
    delivery: null,
    createdAt,
    sentAt: null,
  };
}

/** A message that is marked as it is accepted. */
export function claimedOf(
  { content, boundMs }: AnyAcceptance,
  {
    recipient: { lane, route },
    ...own
  }: Pick<ClaimedMessage, 'seq' | 'message' | 'token' | 'pendingKey'> & {
    recipient: { lane: string; route: string };
  },
): ClaimedMessage {
  return {
    ...own,
    content,
    lane,
    mark: { attempt: 1, route },
    attempts: 1,
    tries: 0,
    boundMs,
    lifeMs: null,
    doubtMs: null,
    earlier: null,
  };
}
