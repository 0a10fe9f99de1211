import type { Channel } from '../../contract/index.js';
import type { OwnDomain } from '../settings.js';
import type { DeliveryState, IncomingMessage, Receipt } from '../storage/store.js';

/** The route without links, which also gets messages that an operator refused. */
export const noLinkRoute = 'no-link';
export const emailRoute = 'email';
/** The queue of all emails, whatever carries them. */
export const emailLane = 'email';

/** A message, as a carrier gets it. */
export interface Submission {
  /** The message's id, by which the carrier recognises it. */
  reference: string;
  /** 1 for the first submission, higher for each later one. */
  attempt: number;
  channel: Channel;
  /** The operator's network or the kind of mail. */
  route: string;
  to: string;
  text: string | null;
  subject: string | null;
  html: string | null;
  from: string | null;
  replyTo: string | null;
  /** Milliseconds within which it may be delivered, for a verification; null or absent for no limit. */
  lifeMs?: number | null;
  /** The project's domain, whose key signs its emails. */
  ownDomain?: OwnDomain | null;
  /** The project's, for messages of a batch. */
  listUnsubscribe?: string | null;
}

/** A way to reach a recipient. */
export interface Route {
  name: string;
  /** The queue for its messages. */
  lane: string;
  /** If false, links are removed from texts. */
  carriesLinks: boolean;
}

/** The routes to try for a message, in this order; at least one. */
export type RoutesOf = (
  message: { channel: Channel; operator: string | null },
  settings: { no_link_operators: readonly string[] },
) => readonly [Route, ...Route[]];

export type SubmitResult =
  | {
      kind: 'accepted';
      /** One for each segment, as receipts will name it; empty if no receipts are expected. */
      carrierIds: string[];
      /** A segment was refused for good after another one was accepted. */
      delivery?: Extract<DeliveryState, 'undelivered'>;
    }
  | Refusal
  | Deferral;

/** A carrier's answer about a message that it certainly did not accept. */
export interface CarrierAnswer {
  /** For people. */
  reason: string;
  /** The carrier's own code, such as `0x58` or `450 4.7.1`. */
  code?: string;
  /** The carrier's text, as received. */
  words?: string;
}

export interface Refusal extends CarrierAnswer {
  kind: 'refused';
  /** Another route may accept it. */
  tryNextRoute: boolean;
  /** The number or address does not exist, and will not. */
  isUnknownRecipient?: boolean;
  /** It is about the sender, not about the recipient or the text. */
  isOfSender?: true;
}

/** The code of a deferral for want of a connection; the carrier itself reports the loss of one. */
export const notConnectedCode = 'not connected';

/**
 * It may be accepted later. `lane`: nothing of a message was sent. Otherwise the carrier's answer is about the
 * account, about the rate, or about anything else; dispatch/ decides what that means.
 */
export interface Deferral extends CarrierAnswer {
  kind: 'later';
  scope: 'lane' | 'account' | 'rate' | 'message';
  code: string;
  /** The account may send no more today. */
  isOfDay?: true;
  /** It is about the recipient alone: greylisting answers each recipient once. */
  isOfRecipient?: true;
  retryAfterMs?: number;
}

/**
 * - `taken`: it was accepted, and is or will be delivered.
 * - `not_taken`: it was not, and no submission of the past can still be.
 * - `unknown`: the carrier cannot say now.
 * - `undecidable`: it never can.
 */
export type Fate = 'taken' | 'not_taken' | 'unknown' | 'undecidable';

/** Thrown by a carrier on purpose: nobody knows whether the message was accepted. Any other error is a bug. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  /** The result, if the carrier answers after all. */
  readonly late: Promise<SubmitResult> | null;
  /** Set if every further message may be in doubt too: the reason to pause the lane. */
  readonly pausedBy: CarrierAnswer | null;

  constructor(
    message: string,
    { late = null, pausedBy = null }: Partial<Pick<OutcomeUnknown, 'late' | 'pausedBy'>> = {},
  ) {
    super(message);
    this.late = late;
    this.pausedBy = pausedBy;
  }
}

/** An incoming SMS. */
export interface Incoming
  extends Omit<IncomingMessage, 'id' | 'projectId' | 'channel' | 'subject' | 'fingerprint'> {
  /** The route that delivered it. */
  route: string;
  /** The same if it is delivered again, so that it is stored once; absent if that cannot be recognised. */
  deliveryId?: string;
}

/** A gateway's request to a path that only it knows. */
export interface CarrierRequest {
  of: 'receipts' | 'incoming';
  route: string;
  /** Proves that the gateway sent it. */
  token: string;
  query: string;
  type: string;
  /** As it came, or decoded. */
  body: string | Uint8Array;
  /** Its X-Twilio-Signature. */
  signature?: string | null;
}

/**
 * True once it is committed, false if it cannot be now, null if no route has this token; `unsupported` for a body that
 * no gateway's route can describe.
 */
export type Taken = boolean | null | 'unsupported';

/**
 * Why a receipt or an incoming message changes nothing: its body or its fields cannot be read, its route does not know
 * its state, or it names no message of its own.
 */
export type Unread = 'body' | 'fields' | 'state' | 'unjoined';

/** Counts what has no other trace. */
export interface CarrierFigures {
  unread(of: CarrierRequest['of'], route: string, reason: Unread): void;
  /** Segments of an accepted message beyond the parts that are charged. */
  beyondParts(route: string, segments: number): void;
}

/** Room for one message. No more messages are marked, so no more are in doubt if a process dies. */
export interface Reservation {
  /** What to store with the mark of a submission so that it can be repeated; absent if it cannot be. */
  request?(submission: Pick<Submission, 'reference' | 'to' | 'text'>): string;
  /** Like `submit` of the carrier. */
  submit(submission: Submission, signal: AbortSignal): Promise<SubmitResult>;
  /** Call this once the outcome is written, or if nothing is submitted. A second call does nothing. */
  release(): void;
}

export type Accepted = Extract<SubmitResult, { kind: 'accepted' }>;

/** How a route's requests are repeated while their outcome is unknown. */
export interface Repeats {
  /** The most messages at once. */
  most: number;
  /** Milliseconds from the first request for which the carrier remembers its key. */
  withinMs: number;
  /** It started recently: a doubt may have passed its deadline while no service was running to repeat anything. */
  isNew: boolean;
  /** Waits for room; null if it submits nothing more. */
  reserve(): Promise<RepeatRoom | null>;
}

export interface RepeatRoom {
  /**
   * Sends the same bytes under their key. Null unless they are accepted: any other answer is about the repeat, not
   * the first request.
   */
  repeat(request: string, reference: string, signal: AbortSignal): Promise<Accepted | null>;
  release(): void;
}

/** A limit of what a carrier takes in any 24 hours. Messages wait while it is reached, and do not age. */
export interface DayLimit {
  /** By all messages, or by those of lists. */
  isReached: boolean;
  /** Milliseconds since it was, 0 while it is. */
  agoMs: number;
  /** Milliseconds for which it has been. */
  forMs: number;
  /** For people. */
  words: string;
}

/** Above all attempts: after an inquiry about it, a carrier never accepts the message. */
export const everyAttempt = 2 ** 31;

/** Mobile operators or email. All times are in milliseconds. */
export interface Carrier {
  /** The queues of its messages. Each is claimed separately, so that none delays another. */
  readonly lanes: readonly string[];
  /** Absent for a carrier that connects. `retired`: nothing is submitted any more. */
  readonly kind?: 'simulated' | 'retired';
  /** After this time without an answer the dispatcher aborts a submission, and its outcome is unknown. */
  readonly submitMs: number;
  /** How long an unknown outcome stays open, longer than `submitMs`. Then it is undecidable. */
  readonly doubtMs: number;
  /**
   * Connects. A receipt or message is acknowledged only when its callback resolves, which means that it is committed.
   * Without `onIncoming`, incoming messages are refused for now.
   */
  start(
    onReceipt: (receipt: Receipt) => Promise<void>,
    onIncoming?: (incoming: Incoming) => Promise<void>,
    figures?: CarrierFigures,
  ): Promise<void>;
  /** Drains and disconnects; submissions that wait for an answer throw. It can be started again. */
  stop(): Promise<void>;
  /** Messages that the lane submits in 5 s; 0 while it submits none. */
  capacity(lane: string): number;
  /**
   * Messages of batches that may be claimed for it here: as many as this process submits in a second, and those being
   * submitted. So a later message waits a second at most. Absent for a carrier without a queue.
   */
  ahead?(lane: string): number;
  /** The lane's share of its rate while throttling lowers it, else 1. Absent for a carrier without a rate. */
  factor?(lane: string): number;
  /** Halves the rate of a lane, in all instances. `answeredMs`: since the throttled submission started. */
  lowerRate?(lane: string, answeredMs: number): Promise<void>;
  /** Absent without a limit of a day; null if it was not reached in the last one. */
  dayLimit?(lane: string): DayLimit | null;
  /** Absent for a carrier that is connected whenever it has capacity. */
  isConnected?(lane: string): boolean;
  /** Whether the lane has had no connection for 30 s. Absent for a carrier that needs none. */
  isDown?(lane: string): boolean;
  /**
   * Waits for room for one submission, in carriers that submit few at a time. Called before the mark, so that only
   * messages that can be sent now are marked. Null if the route submits nothing now. Single messages come before
   * those of batches.
   */
  reserve?(route: string, isSingle: boolean): Promise<Reservation | null>;
  /**
   * Submits a message. If it throws, or `signal` is aborted, nobody knows whether the message was accepted. If the
   * carrier has `inquire`, it never accepts an attempt below one that `inquire` was called for: a paused process may
   * submit one later.
   */
  submit(submission: Submission, signal: AbortSignal): Promise<SubmitResult>;
  /** Receives a gateway's request. `onUnread` is called for each part of it that changes nothing. */
  take?(request: CarrierRequest, onUnread?: (what: Unread) => void): Promise<Taken>;
  /** How a route repeats requests; absent or null if nothing may be sent twice. */
  repeatsOf?(route: string): Repeats | null;
  /** The outcome of the attempts below `before`, for carriers that can be asked. */
  inquire?(reference: string, to: string, before: number): Promise<Fate>;
}
