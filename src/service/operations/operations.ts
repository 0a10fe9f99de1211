import type {
  Balance,
  Batch,
  EmailBulkParams,
  EmailSendParams,
  Message,
  MessagePage,
  Pricing,
  RequestKind,
  SmsBulkParams,
  SmsSendParams,
  Verification,
  VerificationResult,
  VerifyCheckParams,
  VerifyCreateParams,
} from '../../contract/index.js';

/** Whose request it is; every query below is confined to this project. */
export interface Caller {
  projectId: string;
  keyId: string;
}

/** What a send is answered with. It is bound to the send's idempotency key, a 502 `provider_failed` too. */
export interface Answer {
  status: number;
  body: object;
  /** True when this is the answer of an earlier request with the same key. */
  replayed: boolean;
}

export interface SendCall<Params> {
  caller: Caller;
  params: Params;
  idempotencyKey: string | null;
}

/** The allowance of a project for one kind of request, after this request has taken its token. */
export interface RateLimit {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until a token is there, at least 1; 0 when this request was allowed. */
  retryAfter: number;
}

/**
 * The rules of the service, without HTTP and without SQL. `params` have passed their schema (types, unknown
 * fields, lengths of arrays); whatever depends on meaning, settings or state is checked here, in the order:
 * field rules, number support, caps, funds. A refusal throws ServiceError.
 */
export interface Operations {
  authenticate(secret: string): Promise<Caller | null>;
  takeToken(projectId: string, kind: RequestKind): Promise<RateLimit>;

  /** The answer bound to a key; waits while its first request is still running; null when there is none. */
  findAnswer(caller: Caller, idempotencyKey: string): Promise<Answer | null>;
  sendSms(call: SendCall<SmsSendParams>): Promise<Answer>;
  sendSmsBulk(call: SendCall<SmsBulkParams>): Promise<Answer>;
  sendEmail(call: SendCall<EmailSendParams>): Promise<Answer>;
  sendEmailBulk(call: SendCall<EmailBulkParams>): Promise<Answer>;

  createVerification(caller: Caller, params: VerifyCreateParams): Promise<VerificationResult>;
  checkVerification(caller: Caller, id: string, params: VerifyCheckParams): Promise<Verification>;
  getVerification(caller: Caller, id: string): Promise<Verification>;

  getMessage(caller: Caller, id: string): Promise<Message>;
  getBatch(caller: Caller, id: string): Promise<Batch>;
  listBatchMessages(
    caller: Caller,
    id: string,
    page: { limit: number; after: string | null },
  ): Promise<MessagePage>;
  getBalance(caller: Caller): Promise<Balance>;
  getPricing(caller: Caller): Promise<Pricing>;
}
