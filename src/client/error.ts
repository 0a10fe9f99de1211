import type { ErrorCode, ErrorFields } from '../contract/index.js';

type UnionToIntersection<Union> = (Union extends unknown ? (value: Union) => void : never) extends (
  value: infer Intersection,
) => void
  ? Intersection
  : never;

/** Every field that some code brings along. */
export type AnyErrorFields = Partial<UnionToIntersection<ErrorFields[keyof ErrorFields]>>;
type FieldName = keyof AnyErrorFields;
type FieldsOf<Code> = Code extends keyof ErrorFields ? ErrorFields[Code] : unknown;

interface ErrorBase extends Error {
  readonly name: 'UrtuuError';
  /** English, for logs only; branch on `code`. */
  readonly message: string;
  /** HTTP status; null when no answer arrived (`timeout`, `connection_error`). */
  readonly status: number | null;
  /** Seconds of the Retry-After header; null when there was none. */
  readonly retryAfter: number | null;
  /**
   * False when nothing of the request left, in no attempt of this call: the connection was refused, the host is
   * unknown, its certificate is not trusted ... True whenever that is not known for certain.
   */
  readonly requestSent: boolean;
  /**
   * Whether the call may have sent something all the same: a request left, and no answer settles it. Repeat it with
   * `idempotencyKey`: that cannot send twice. Always false for reads.
   */
  readonly inDoubt: boolean;
  /** The key of the last attempt of a send, also one that the client made; null for everything else. */
  readonly idempotencyKey: string | null;
  /** X-Request-Id of the last answer; null when there was none. */
  readonly requestId: string | null;
  /** How many requests the call made. */
  readonly attempts: number;
  /** What went wrong underneath, on `timeout` and `connection_error`. */
  readonly cause?: unknown;
  /** Name, message and every field above but `cause`, which may hold anything. */
  toJSON(): Record<string, unknown>;
}

type KnownError<Code extends ErrorCode> = ErrorBase & {
  readonly code: Code;
} & Readonly<FieldsOf<Code>> & { readonly [Name in Exclude<FieldName, keyof FieldsOf<Code>>]?: undefined };

/**
 * A code this version does not know. It is a plain `string`, because `string & {}` would not narrow; its fields
 * are `never` so that they do not widen those of known codes.
 */
type OtherError = ErrorBase & { readonly code: string } & { readonly [Name in FieldName]: never };

/**
 * Why a call failed. Comparing `code` narrows the fields that come with it:
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
 * | `invalid_request` | `invalid`: the refused entries of a bulk send, up to 50; absent for other faults |
 * | `provider_failed` | `id` of the failed message |
 *
 * A field that an answer leaves out, or gives with the wrong type, is absent (Errors).
 */
export type UrtuuError = { [Code in ErrorCode]: KnownError<Code> }[ErrorCode] | OtherError;

/** A code of the service or of the client; later versions of the service may bring new ones. */
export type UrtuuErrorCode = ErrorCode | (string & {});

/** The parts of an error, as the client gathers them before it decides whether to throw. */
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
