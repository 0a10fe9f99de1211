import { type ErrorFields, type ServiceErrorCode, serviceErrors } from '../../contract/index.js';

type FieldsOf<Code extends ServiceErrorCode> = Code extends keyof ErrorFields ? ErrorFields[Code] : undefined;

/**
 * An error that is bound to no idempotency key; `http/app.ts` makes it an answer. Nothing was stored,
 * charged or sent, but for `invalid_code` (an attempt is used up), `provider_failed` of a verification (refunded), and
 * `unavailable`, which leaves that open unless its message says that nothing was done.
 */
export class ServiceError<Code extends ServiceErrorCode = ServiceErrorCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly fields: FieldsOf<Code> | undefined;
  /** Whole seconds, for the `Retry-After` header. */
  readonly retryAfter: number | undefined;
  /** Methods of the route, for the `Allow` header. */
  readonly allow: string | undefined;
  /** For the owner at a terminal; not in any answer. */
  readonly hint: string | undefined;

  constructor(
    code: Code,
    message: string,
    extra: {
      fields?: FieldsOf<Code>;
      retryAfter?: number;
      status?: number;
      allow?: string;
      hint?: string;
    } = {},
  ) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
    this.status = extra.status ?? serviceErrors[code].status;
    this.fields = extra.fields;
    this.retryAfter = extra.retryAfter;
    this.allow = extra.allow;
    this.hint = extra.hint;
  }
}
