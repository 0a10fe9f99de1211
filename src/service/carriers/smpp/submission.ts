import type { Clock } from '../../clock.js';
import { notConnectedCode, OutcomeUnknown, type Submission, type SubmitResult } from '../carrier.js';
import { statuses, tags } from './codec/commands.js';
import type { Pdu } from './codec/pdu.js';
import type { LinkRoom, RouteWindow } from './connection/window.js';
import { carrierIdOf } from './receipts.js';
import { resultOf } from './results.js';
import type { SmppRoute } from './route-settings.js';
import { type Segment, segmentsOf, twoBytes } from './segments.js';
import { routeFields, validityOf } from './submit-fields.js';

/** The connection works: every further message would be in doubt too. */
const silence = { reason: 'its operator does not answer', code: 'no answer' };
/** Milliseconds from the first segment within which further ones may be sent. */
const segmentsWithin = 45_000;
/** Milliseconds before a refused segment is sent again. */
const segmentPauses = [1_000, 2_000, 4_000, 8_000];

export interface SubmissionParts {
  route: SmppRoute;
  window: RouteWindow;
  clock: Clock;
}

/**
 * Submits a message in the room it has, one segment after another. Once a segment is accepted, the missing ones are
 * retried and the message is never deferred or refused. Rejects with OutcomeUnknown.
 */
export function submitIn(
  first: LinkRoom,
  submission: Submission,
  signal: AbortSignal,
  parts: SubmissionParts,
): Promise<SubmitResult> {
  return new Promise((resolve, reject) => {
    const sending = new Sending(first, submission, signal, parts, () =>
      reject(new OutcomeUnknown(silence.reason, { late: whole, pausedBy: silence })),
    );
    const whole = sending.run();
    whole.then(resolve, reject);
  });
}

class Sending {
  readonly #submission: Submission;
  readonly #signal: AbortSignal;
  readonly #parts: SubmissionParts;
  readonly #onOverdue: () => void;
  readonly #reference: number;
  readonly #begunAt: number;
  #room: LinkRoom | null;

  constructor(
    room: LinkRoom,
    submission: Submission,
    signal: AbortSignal,
    parts: SubmissionParts,
    onOverdue: () => void,
  ) {
    this.#room = room;
    this.#submission = submission;
    this.#signal = signal;
    this.#parts = parts;
    this.#onOverdue = onOverdue;
    this.#reference = referenceOf(submission.reference);
    this.#begunAt = parts.clock.monotonic();
  }

  async run(): Promise<SubmitResult> {
    const { route } = this.#parts;
    const ids: (string | null)[] = [];
    try {
      if (this.#signal.aborted || this.#room?.isUsable !== true) return notConnected(route.name);
      for (const segment of segmentsOf(this.#submission.text ?? '', route, this.#reference)) {
        const answer = ids.length === 0 ? await this.#exchange(segment) : await this.#insist(segment);
        if (answer === null) return accepted(ids, { delivery: 'undelivered' });
        if (answer.status !== statuses.ok) return resultOf(answer.status, route);
        ids.push(carrierIdOf(answer.fields.message_id ?? '', route.receiptId));
      }
      return accepted(ids);
    } finally {
      this.#room?.release();
    }
  }

  /** Submits a segment after the first, several times if necessary; null if it is not accepted. */
  async #insist(segment: Segment): Promise<Pdu | null> {
    const { window, clock } = this.#parts;
    for (const pause of [0, ...segmentPauses]) {
      if (pause > 0) await new Promise<void>((resolve) => void clock.after(pause, resolve));
      const left = this.#begunAt + segmentsWithin - clock.monotonic();
      if (this.#signal.aborted || left <= 0) return null;
      this.#room = await window.waitAgain(this.#room, left);
      if (this.#room === null) return null;
      const answer = await this.#exchange(segment);
      if (answer.status === statuses.ok) return answer;
    }
    return null;
  }

  async #exchange({ fields, options }: Segment): Promise<Pdu> {
    const { route, clock } = this.#parts;
    const room = this.#room as LinkRoom;
    const { to, lifeMs = null } = this.#submission;
    const all = {
      ...fields,
      ...routeFields(route, to),
      validity_period: validityOf(route, lifeMs, clock.now()),
    };
    const reference = [tags.userMessageReference, twoBytes(this.#reference)] as const;
    const tlvs = route.hasTlvs ? new Map([reference, ...options]) : options;
    const onOverdue = () => {
      room.release();
      this.#onOverdue();
    };
    room.use();
    try {
      const answer = await room.session.request('submit_sm', all, tlvs, onOverdue);
      const isNack = answer.command === 'generic_nack' && answer.status === statuses.ok;
      return isNack ? { ...answer, status: statuses.unknownError } : answer;
    } catch (error) {
      throw new OutcomeUnknown((error as Error).message);
    }
  }
}

/** Two bytes of the message's id, which receipts repeat. */
function referenceOf(id: string): number {
  return Number.parseInt(id.slice(-4), 16) || 0;
}

function accepted(ids: readonly (string | null)[], extra: { delivery?: 'undelivered' } = {}): SubmitResult {
  // Receipts for only some segments say nothing about the message.
  const carrierIds = ids.includes(null) ? [] : (ids as string[]);
  return { kind: 'accepted', carrierIds, ...extra };
}

export function notConnected(name: string): SubmitResult {
  return { kind: 'later', reason: `${name} is not connected`, code: notConnectedCode, scope: 'lane' };
}
