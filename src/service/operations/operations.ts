import type {
  Balance,
  Batch,
  BatchFilter,
  BatchPage,
  EmailBulkParams,
  EmailSendParams,
  EventPage,
  EventQuery,
  InboxFilter,
  InboxMessage,
  Message,
  MessageFilter,
  MessagePage,
  Page,
  Pricing,
  RequestKind,
  SmsBulkParams,
  SmsSendParams,
  SuppressionsCheck,
  SuppressionsCheckParams,
  Verification,
  VerificationResult,
  VerifyCheckParams,
  VerifyCreateParams,
} from '../../contract/index.js';
import type { KeyScope, PageRequest } from '../storage/store.js';
import type { Project } from './context.js';
import type { WhenEnded } from './events/event-waits.js';

export type { KeyScope, PageRequest };

/** The sender of a request. Operations see only its project. */
export interface Caller {
  projectId: string;
  keyId: string;
  /** Set if it was read together with the key. */
  project?: Project;
}

/** The answer to a send, bound to its idempotency key; this includes a 502 `provider_failed`. */
export interface Answer {
  status: number;
  body: object;
  /** Whether it is the answer to an earlier request with the same key. */
  replayed: boolean;
}

export interface SendCall<Params> {
  caller: Caller;
  params: Params;
  idempotencyKey: string | null;
  /** It belongs to a list: the request says `Urtuu-Class: bulk`. */
  isBulk?: boolean;
}

/** A project's rate limit for one kind of request, after this request took its token. */
export interface RateLimit {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the next token, at least 1; 0 for an allowed request. */
  retryAfter: number;
}

/** The part of a request that is checked before its body. */
export interface RequestHead {
  /** The API key as given. */
  secret: string;
  kind: RequestKind;
  /** Null for a read, and for a malformed key, which is refused only after the body is read. */
  idempotencyKey: string | null;
}

export interface AdmittedRequest {
  caller: Caller;
  /** The scope of the key. */
  scope: readonly KeyScope[];
  rateLimit: RateLimit;
  /**
   * Returns the answer bound to the idempotency key, waiting while its first request is running. Null if the key is
   * unused, or over the rate limit.
   */
  replay: (() => Promise<Answer>) | null;
}

/**
 * The rules of the service, without HTTP and SQL. `params` have passed their schema (types, unknown fields, ranges,
 * array lengths). The operations check everything that depends on meaning, settings and state, in this order: field
 * rules, number support, suppressions, caps, funds. A refusal throws ServiceError.
 */
export interface Operations {
  /** The only call before the body of a request is read; it takes a token. Null without a valid key. */
  admit(head: RequestHead): Promise<AdmittedRequest | null>;

  sendSms(call: SendCall<SmsSendParams>): Promise<Answer>;
  sendSmsBulk(call: SendCall<SmsBulkParams>): Promise<Answer>;
  sendEmail(call: SendCall<EmailSendParams>): Promise<Answer>;
  sendEmailBulk(call: SendCall<EmailBulkParams>): Promise<Answer>;

  createVerification(caller: Caller, params: VerifyCreateParams): Promise<VerificationResult>;
  checkVerification(caller: Caller, id: string, params: VerifyCheckParams): Promise<Verification>;
  getVerification(caller: Caller, id: string): Promise<Verification>;

  getMessage(caller: Caller, id: string): Promise<Message>;
  getBatch(caller: Caller, id: string): Promise<Batch>;
  listBatchMessages(caller: Caller, id: string, page: PageRequest): Promise<MessagePage>;
  /** A page with a `next` may have fewer items than its limit, or none. */
  listMessages(caller: Caller, filter: MessageFilter, page: PageRequest): Promise<MessagePage>;
  listBatches(caller: Caller, filter: BatchFilter, page: PageRequest): Promise<BatchPage>;
  listInbox(caller: Caller, filter: InboxFilter, page: PageRequest): Promise<Page<Required<InboxMessage>>>;
  /** Begins to record them if nobody did. Waits, if asked to, while there are none. */
  listEvents(caller: Caller, query: EventQuery, whenEnded?: WhenEnded): Promise<EventPage>;
  getBalance(caller: Caller): Promise<Balance>;
  getPricing(caller: Caller): Promise<Pricing>;
  checkSuppressions(caller: Caller, params: SuppressionsCheckParams): Promise<SuppressionsCheck>;
}
