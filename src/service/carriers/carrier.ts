import type { Channel } from '../../contract/index.js';
import type { OwnDomain } from '../settings.js';
import type { DeliveryState, IncomingMessage, Receipt } from '../storage/store.js';

/** The route that carries no links, which also takes what an operator refused. */
export const noLinkRoute = 'no-link';
export const emailRoute = 'email';
/** The queue that emails wait in, whoever takes them. */
export const emailLane = 'email';

/** A message as a carrier gets it. */
export interface Submission {
  /** The message's id, under which the carrier remembers it. */
  reference: string;
  /** 1 for the first submission; each later one has a higher number. */
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
  /** Milliseconds within which it may be delivered: those of a verification; null or absent for any. */
  lifeMs?: number | null;
  /** Of its project: emails from it are signed with its key. */
  ownDomain?: OwnDomain | null;
  /** Of its project, for a message of a batch. */
  listUnsubscribe?: string | null;
}

/** A way to a recipient. */
export interface Route {
  name: string;
  /** The queue that messages for it wait in. */
  lane: string;
  /** Links are removed from texts on one that carries none. */
  carriesLinks: boolean;
}

/** The routes to try for a message, in order, at least one. */
export type RoutesOf = (
  message: { channel: Channel; operator: string | null },
  settings: { no_link_operators: readonly string[] },
) => readonly [Route, ...Route[]];

export type SubmitResult =
  | {
      kind: 'accepted';
      /** One for each segment, as receipts will name them; empty where none is expected. */
      carrierIds: string[];
      /** A segment stayed refused after another one was taken. */
      delivery?: Extract<DeliveryState, 'undelivered'>;
    }
  | Refusal
  | PutOff;

/** What a carrier said of a message that it certainly did not take. */
export interface CarrierAnswer {
  /** For people. */
  reason: string;
  /** The carrier's own, as `0x58` or `450 4.7.1`. */
  code?: string;
  /** The carrier's words beside it, as they came. */
  words?: string;
}

export interface Refusal extends CarrierAnswer {
  kind: 'refused';
  /** Another route may take it. */
  tryNextRoute: boolean;
  /** There is no such number or address, and will not be. */
  isUnknownRecipient?: boolean;
  /** It is about who sends, not about the recipient or the text. */
  isOfSender?: true;
}

/**
 * It may be taken another time. `lane`: nothing of a message went out. Otherwise the carrier answered it: about the
 * account, about the rate, or about anything else. dispatch/ decides what that means.
 */
export interface PutOff extends CarrierAnswer {
  kind: 'later';
  scope: 'lane' | 'account' | 'rate' | 'message';
  code: string;
  /** It is about the recipient alone: greylisting answers each of them once. */
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

/** Thrown by a carrier that expects it: nobody knows whether the message was taken. Any other error is a bug. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  /** The result, should the carrier answer after all. */
  readonly late: Promise<SubmitResult> | null;
  /** Set where each message more may be in doubt too: what the lane is paused by. */
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

/** An SMS from outside. */
export interface Incoming
  extends Omit<IncomingMessage, 'id' | 'projectId' | 'channel' | 'subject' | 'fingerprint'> {
  /** The route that delivered it. */
  route: string;
  /** The same for one that is delivered again, which is kept once; absent where nothing tells. */
  deliveryId?: string;
}

/** A request of a carrier on a path that is known to it alone. */
export interface CarrierRequest {
  of: 'receipts' | 'incoming';
  route: string;
  /** Proves that it comes from the carrier. */
  token: string;
  query: string;
  type: string;
  body: string;
  /** Its X-Twilio-Signature. */
  signature?: string | null;
}

/** Room for one message: no more are marked, and no more are in doubt when a process dies. */
export interface Reservation {
  /** What is kept with the mark of a submission, so that it can be repeated; absent where it cannot be. */
  request?(submission: Pick<Submission, 'reference' | 'to' | 'text'>): string;
  /** As `submit` of the carrier. */
  submit(submission: Submission, signal: AbortSignal): Promise<SubmitResult>;
  /** Once the outcome is written, or nothing is submitted. A second call does nothing. */
  release(): void;
}

export type Accepted = Extract<SubmitResult, { kind: 'accepted' }>;

/** How the requests of a route go out again while nobody knows their outcome. */
export interface Repeats {
  /** Messages at once. */
  most: number;
  /** Milliseconds from the first time that a request went out: for so long the carrier knows its key. */
  withinMs: number;
  /** It has just begun: a doubt may have passed its deadline while there was no service to repeat anything. */
  isNew: boolean;
  /** Waits for room; null once it submits nothing more. */
  reserve(): Promise<RepeatRoom | null>;
}

export interface RepeatRoom {
  /** Sends the same bytes under their key. Null for every other answer: it is about the repeat, and not about the first. */
  repeat(request: string, reference: string, signal: AbortSignal): Promise<Accepted | null>;
  release(): void;
}

/** An attempt above every attempt: once asked about it, a carrier never takes the message. */
export const everyAttempt = 2 ** 31;

/** Mobile operators or mail. All times are in milliseconds. */
export interface Carrier {
  /** The queues that messages wait in for it: each is claimed for itself, so that one does not hold up another. */
  readonly lanes: readonly string[];
  /** Absent for one that connects. `retired`: nothing is submitted any more. */
  readonly kind?: 'simulated' | 'retired';
  /** After so long a submission has no answer: the dispatcher aborts it, and its outcome is unknown. */
  readonly submitMs: number;
  /** How long an unknown outcome is waited for: longer than `submitMs`. Then it is undecidable. */
  readonly doubtMs: number;
  /**
   * Connects. The callbacks resolve when their receipt or message is committed; only then it is acknowledged. Without
   * `onIncoming` messages from outside are put off.
   */
  start(
    onReceipt: (receipt: Receipt) => Promise<void>,
    onIncoming?: (incoming: Incoming) => Promise<void>,
  ): Promise<void>;
  /** Drains and disconnects; submissions that wait for an answer throw. May be started again. */
  stop(): Promise<void>;
  /** Messages that the lane submits in 5 s; 0 while it cannot. */
  capacity(lane: string): number;
  /**
   * Messages of batches that may be claimed for it here: what it submits from here in a second, over all projects, and
   * what is under way. Absent for a carrier that nothing waits in. Whoever comes later waits that second, and no more.
   */
  ahead?(lane: string): number;
  /** The share of its rate that a lane has while throttling has lowered it, else 1. Absent for one without a rate. */
  factor?(lane: string): number;
  /** Halves the rate of a lane, in all instances. `answeredMs`: since a submission began that was throttled. */
  lowerRate?(lane: string, answeredMs: number): Promise<void>;
  /** Absent for a carrier that is connected whenever it has capacity. */
  isConnected?(lane: string): boolean;
  /** Whether the lane has had no connection for 30 s. Absent for a carrier that needs none. */
  isDown?(lane: string): boolean;
  /**
   * Waits for room for one submission, in carriers that submit few at a time; asked before the mark, so that only what
   * can go out now is marked. Null when the route submits nothing now. A single message waits before those of batches.
   */
  reserve?(route: string, isSingle: boolean): Promise<Reservation | null>;
  /**
   * Submits a message. When it throws, or `signal` is aborted, nobody knows whether the message was taken. Where
   * `inquire` is offered, it never takes an attempt below one that `inquire` was asked about: a process that paused
   * in between may come back with it.
   */
  submit(submission: Submission, signal: AbortSignal): Promise<SubmitResult>;
  /** Takes a request of its carrier: whether what it says is committed; null where no route has such a token. */
  take?(request: CarrierRequest): Promise<boolean | null>;
  /** How a doubt of a route is resolved; absent or null where nothing may be sent twice. */
  repeatsOf?(route: string): Repeats | null;
  /** The fate of the attempts below `before`, for carriers that can be asked. */
  inquire?(reference: string, to: string, before: number): Promise<Fate>;
}
