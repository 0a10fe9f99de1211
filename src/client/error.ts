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
  /** What went wrong underneath, on `timeout` and `connection_error`. */
  readonly cause?: unknown;
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

  static {
    Object.defineProperty(ErrorOfClient, 'name', { value: 'UrtuuError' });
    Object.defineProperty(ErrorOfClient.prototype, 'name', { value: 'UrtuuError' });
  }

  constructor({ code, message, status, retryAfter, fields, cause }: UrtuuErrorParts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
    Object.assign(this, fields);
  }
}

export const UrtuuError = ErrorOfClient as unknown as UrtuuErrorConstructor;
