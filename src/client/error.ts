import type { ErrorCode, ErrorFields } from '../contract/index.js';

/** `A & B` of `A | B`. */
type UnionToIntersection<Union> = (Union extends unknown ? (value: Union) => void : never) extends (
  value: infer Intersection,
) => void
  ? Intersection
  : never;

/** The fields of all codes. */
export type AnyErrorFields = Partial<UnionToIntersection<ErrorFields[keyof ErrorFields]>>;
/** `balance`, `required` ... */
type FieldName = keyof AnyErrorFields;
/** The fields of a code; none for most. */
type FieldsOf<Code> = Code extends keyof ErrorFields ? ErrorFields[Code] : unknown;

/** Fields of every error (Errors). */
interface ErrorBase extends Error {
  /** `UrtuuError`, or the name that a subclass sets. */
  readonly name: string;
  /** English, for logs only; branch on `code`. */
  readonly message: string;
  /** HTTP status; null without an answer (`timeout`, `connection_error`). */
  readonly status: number | null;
  /** Seconds, from the Retry-After header; null without one. */
  readonly retryAfter: number | null;
  /** False only if certainly nothing was sent: connection refused, unknown host, untrusted certificate ... */
  readonly requestSent: boolean;
  /**
   * Whether this call may have sent the message: a request was made and got no clear answer. Repeat the call with
   * `idempotencyKey`; that cannot send it twice. Earlier calls with the same key are not considered: success,
   * `provider_failed`, 400 and 422 resolve their doubt. Always false for reads.
   */
  readonly inDoubt: boolean;
  /**
   * The idempotency key of a send, yours or generated; the one of the last attempt. Null for reads and verifications.
   */
  readonly idempotencyKey: string | null;
  /** X-Request-Id of the last answer; null without one. */
  readonly requestId: string | null;
  /** Requests made by this call, including retries and polls; 0 if it was aborted before the first. */
  readonly attempts: number;
  /** The underlying error of `timeout` and `connection_error`; the signal's reason for an aborted call. */
  readonly cause?: unknown;
  /** Name, message and all fields except `cause`, which may contain anything. */
  toJSON(): Record<string, unknown>;
}

/** An error with a known code, and the fields of that code. */
type KnownError<Code extends ErrorCode> = ErrorBase & {
  /** Compare this to narrow the fields. */
  readonly code: Code;
} & Readonly<FieldsOf<Code>> & { readonly [Name in Exclude<FieldName, keyof FieldsOf<Code>>]?: undefined };

/**
 * An unknown code. It is a plain `string`, because `string & {}` would not narrow; its fields are `never`, so that
 * they do not widen those of known codes.
 */
type OtherError = ErrorBase & {
  /** A code of a later version. */
  readonly code: string;
} & { readonly [Name in FieldName]: never };

/**
 * A failed call. Compare `code` to narrow its fields:
 *
 * ```ts
 * if (error instanceof UrtuuError && error.code === 'insufficient_credits') {
 *   console.error(`${error.required - error.balance} credits are missing`);
 * }
 * ```
 *
 * | `code` | fields |
 * |---|---|
 * | `insufficient_credits` | `balance`, `required`: credits |
 * | `invalid_code` | `attempts_remaining` |
 * | `invalid_request` | `invalid`: up to 50 refused entries of a bulk send; absent for other errors |
 * | `provider_failed` | `id` of the failed message |
 * | `recipient_suppressed` | `reason`: `opt_out`, `unknown_recipient` or `manual` |
 *
 * A field that is missing in the answer, or of the wrong type, is absent (Errors).
 */
export type UrtuuError = { [Code in ErrorCode]: KnownError<Code> }[ErrorCode] | OtherError;

/** A code of the service or of the client; later versions may add codes (Errors). */
export type UrtuuErrorCode = ErrorCode | (string & {});

/** The argument of the constructor, for subclasses and tests. */
export interface UrtuuErrorParts {
  /** A code of the service or of the client. */
  code: UrtuuErrorCode;
  /** English, for logs. */
  message: string;
  /** HTTP status; null without an answer. */
  status: number | null;
  /** Seconds; null without a Retry-After. */
  retryAfter: number | null;
  /** Default true. */
  requestSent?: boolean | undefined;
  /** Default false. */
  inDoubt?: boolean | undefined;
  /** Default null. */
  idempotencyKey?: string | null | undefined;
  /** Default null. */
  requestId?: string | null | undefined;
  /** Default 1. */
  attempts?: number | undefined;
  /** The fields of the code, such as `balance` and `required`. */
  fields?: AnyErrorFields | undefined;
  /** Default: none. */
  cause?: unknown;
}

/** `instanceof` narrows to the union; `extends` needs a single type, in which the fields of codes are unknown. */
interface UrtuuErrorConstructor {
  /**
   * @param parts the fields of the error
   */
  new (parts: UrtuuErrorParts): OtherError;
  /** The type that `instanceof` narrows to. */
  readonly prototype: UrtuuError;
}

class ErrorOfClient extends Error {
  readonly code: string;
  readonly status: number | null;
  readonly retryAfter: number | null;
  readonly requestSent: boolean;
  readonly inDoubt: boolean;
  readonly idempotencyKey: string | null;
  readonly requestId: string | null;
  readonly attempts: number;

  static {
    Object.defineProperty(ErrorOfClient, 'name', { value: 'UrtuuError' });
    // Writable, for subclasses that assign their own.
    Object.defineProperty(ErrorOfClient.prototype, 'name', {
      value: 'UrtuuError',
      writable: true,
      configurable: true,
    });
  }

  constructor(parts: UrtuuErrorParts) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = parts.code;
    this.status = parts.status;
    this.retryAfter = parts.retryAfter;
    this.requestSent = parts.requestSent ?? true;
    this.inDoubt = parts.inDoubt ?? false;
    this.idempotencyKey = parts.idempotencyKey ?? null;
    this.requestId = parts.requestId ?? null;
    this.attempts = parts.attempts ?? 1;
    Object.assign(this, parts.fields);
  }

  toJSON(): Record<string, unknown> {
    return Object.assign({ name: this.name, message: this.message }, this as object);
  }
}

/** A failed call. `instanceof` narrows to the union of its codes; subclasses may extend it. */
export const UrtuuError = ErrorOfClient as unknown as UrtuuErrorConstructor;
