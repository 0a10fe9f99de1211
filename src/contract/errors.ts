import type { SuppressionReason } from './resources.js';

/** Every code of the service, with its HTTP status and meaning (Errors). */
export const serviceErrors = {
  invalid_request: { status: 400, meaning: 'a field is missing or breaks a rule' },
  unauthorized: { status: 401, meaning: 'the API key is missing, malformed, unknown, revoked or expired' },
  insufficient_credits: { status: 402, meaning: 'the balance is too low' },
  forbidden: { status: 403, meaning: 'the request is outside the scope of the API key' },
  not_found: { status: 404, meaning: 'there is no such route, or no such id in this project' },
  method_not_allowed: { status: 405, meaning: 'the route does not take this method' },
  verification_closed: { status: 409, meaning: 'the verification is verified, expired or out of attempts' },
  cursor_expired: { status: 410, meaning: 'events after this cursor are no longer kept' },
  request_too_large: { status: 413, meaning: 'the request body is over 1 MB' },
  unsupported_media_type: { status: 415, meaning: 'the request body is not application/json' },
  unsupported_number: { status: 422, meaning: 'no supported operator serves this number' },
  message_too_long: { status: 422, meaning: 'the SMS is over 5 parts, or the email over 256 KB' },
  recipient_suppressed: { status: 422, meaning: 'the recipient is on the do-not-send list' },
  invalid_code: { status: 422, meaning: 'the verification code is wrong' },
  rate_limited: { status: 429, meaning: 'too many requests for the project' },
  recipient_rate_limited: { status: 429, meaning: 'too many messages for this recipient' },
  provider_failed: { status: 502, meaning: 'the operator did not accept the message; it was refunded' },
  unavailable: { status: 503, meaning: 'the service cannot answer now' },
} as const satisfies Record<string, { status: number; meaning: string }>;

/** An error code of the service (Errors). */
export type ServiceErrorCode = keyof typeof serviceErrors;

/** Error codes of the client, for calls that the service did not answer. */
export const clientErrors = {
  timeout: { meaning: 'no answer in time' },
  connection_error: { meaning: 'the connection failed before the answer was complete' },
  unexpected_response: { meaning: 'the answer did not come from the service' },
} as const;
/** An error code of the client; `timeout` and `connection_error` have no status. */
export type ClientErrorCode = keyof typeof clientErrors;

/** An error code of the service or of the client. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode;

/** Fields of an error in addition to `code` and `message`, by code. */
export interface ErrorFields {
  /** 400. */
  invalid_request: {
    /** Refused entries of a bulk send, up to 50; absent for other errors. */
    invalid?: string[];
  };
  /** 402. */
  insufficient_credits: {
    /** Credits of the project. */
    balance: number;
    /** Cost of the send in credits. */
    required: number;
  };
  /** 422. */
  recipient_suppressed: {
    /** Why it is on the list. */
    reason: SuppressionReason;
  };
  /** 422. */
  invalid_code: {
    /** Attempts left; at 0 the verification is `failed`. */
    attempts_remaining: number;
  };
  /** 502. */
  provider_failed: {
    /** UUID of the failed message, which was refunded. */
    id: string;
  };
}

/** The body of every error answer. */
export interface ErrorEnvelope {
  error: { code: string; message: string } & Record<string, unknown>;
}
