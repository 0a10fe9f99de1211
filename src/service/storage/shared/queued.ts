import type { BatchAcceptance, MessageAcceptance, VerificationAcceptance } from '../acceptance.js';
import type { ClaimedMessage } from '../dispatching.js';
import type { Instant, MessageRecord, VerificationRecord } from '../records.js';

type AnyAcceptance = MessageAcceptance | BatchAcceptance;

export function queuedMessage(
  {
    projectId,
    channel,
    parts,
    rateMultiplier,
    credits,
  }: Pick<AnyAcceptance, 'projectId' | 'channel' | 'parts' | 'rateMultiplier' | 'credits'>,
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

export function pendingVerification(
  { id, codeHash, attempts, lifeMs }: VerificationAcceptance['verification'],
  { channel, to, credits, createdAt }: MessageRecord,
): VerificationRecord {
  return {
    id,
    status: 'pending',
    channel,
    to,
    attemptsRemaining: attempts,
    credits,
    codeHash,
    createdAt,
    expiresAt: createdAt + lifeMs,
    verifiedAt: null,
  };
}

/**
 * A message that is marked when it is accepted. Built field by field: a batch has a thousand, and spreading is slow.
 */
export function claimedOf(
  { content, boundMs }: AnyAcceptance,
  { seq, message, recipient, token, pendingKey, earlier, lifeMs }: Accepted,
): ClaimedMessage {
  return {
    seq,
    message,
    content,
    token,
    lane: recipient.lane,
    pendingKey,
    mark: { attempt: 1, route: recipient.route },
    attempts: 1,
    tries: 0,
    tried: [],
    boundMs,
    lifeMs,
    doubtMs: null,
    receipts: [],
    isStopped: false,
    earlier,
  };
}

interface Accepted
  extends Pick<ClaimedMessage, 'seq' | 'message' | 'token' | 'pendingKey' | 'earlier' | 'lifeMs'> {
  recipient: { lane: string; route: string };
}
