import type { ErrorCode, ErrorFields } from '../contract/index.js';

type UnionToIntersection<Union> = (Union extends unknown ? (value: Union) => void : never) extends (
  value: infer Intersection,
) => void
  ? Intersection
  : never;

/** The fields of all codes. */
export type AnyErrorFields = Partial<UnionToIntersection<ErrorFields[keyof ErrorFields]>>;
type FieldName = keyof AnyErrorFields;
type FieldsOf<Code> = Code extends keyof ErrorFields ? ErrorFields[Code] : unknown;

interface ErrorBase extends Error {
  readonly name: 'UrtuuError';
  /** English, for logs only; branch on `code`. */
  readonly message: string;
  /** HTTP status; null without an answer (`timeout`, `connection_error`). */
  readonly status: number | null;
  /** Seconds, from the Retry-After header; null without one. */
  readonly retryAfter: number | null;
  /**
   * False only when certainly no attempt of this call sent a byte: connection refused, unknown host, untrusted
   * certificate ...
   */
  readonly requestSent: boolean;
  /**
   * Whether the message may have been sent: a request left, and no answer tells. Repeat the call with
   * `idempotencyKey`, which cannot send twice. Always false for reads.
   */
  readonly inDoubt: boolean;
  /** The key of the last attempt, generated ones included; null for calls without one. */
  readonly idempotencyKey: string | null;
  /** X-Request-Id of the last answer; null without one. */
  readonly requestId: string | null;
  /** Requests made by this call, retries included. */
  readonly attempts: number;
  /** The underlying error of `timeout` and `connection_error`. */
  readonly cause?: unknown;
  /** Name, message and all fields except `cause`, which may hold anything. */
  toJSON(): Record<string, unknown>;
}

type KnownError<Code extends ErrorCode> = ErrorBase & {
  readonly code: Code;
} & Readonly<FieldsOf<Code>> & { readonly [Name in Exclude<FieldName, keyof FieldsOf<Code>>]?: undefined };

/**
 * An unknown code. It is a plain `string`, because `string & {}` would not narrow; its fields are `never`, not to
 * widen those of known codes.
 */
type OtherError = ErrorBase & { readonly code: string } & { readonly [Name in FieldName]: never };

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
 *
 * A field that is missing in the answer, or of the wrong type, is absent (Errors).
 */
export type UrtuuError = { [Code in ErrorCode]: KnownError<Code> }[ErrorCode] | OtherError;

/** A code of the service or of the client; later versions may add codes. */
export type UrtuuErrorCode = ErrorCode | (string & {});

export interface UrtuuErrorParts {
  code: UrtuuErrorCode;
  message: string;
  status: number | null;
  retryAfter: number | null;
  requestSent?: boolean;
  inDoubt?: boolean;
  idempotencyKey?: string | null;
  requestId?: string | null;
  attempts?: number;
  fields?: AnyErrorFields;
  cause?: unknown;
}

interface UrtuuErrorConstructor {
  new (parts: UrtuuErrorParts): UrtuuError;
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
    Object.defineProperty(ErrorOfClient.prototype, 'name', { value: 'UrtuuError' });
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

export const UrtuuError = ErrorOfClient as unknown as UrtuuErrorConstructor;
