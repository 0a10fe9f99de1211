import { type ErrorFields, type ServiceErrorCode, serviceErrors } from '../contract/index.js';

type FieldsOf<Code extends ServiceErrorCode> = Code extends keyof ErrorFields ? ErrorFields[Code] : undefined;

/**
 * A refused request: nothing was stored, charged or sent, and nothing is bound to its idempotency key. Thrown by
 * operations and middleware; `http/middleware/answer-error.ts` makes the answer.
 */
export class ServiceError<Code extends ServiceErrorCode = ServiceErrorCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly fields: FieldsOf<Code> | undefined;
  /** Whole seconds for the `Retry-After` header. */
  readonly retryAfter: number | undefined;

  constructor(
    code: Code,
    message: string,
    extra: { fields?: FieldsOf<Code>; retryAfter?: number; status?: number } = {},
  ) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
    this.status = extra.status ?? serviceErrors[code].status;
    this.fields = extra.fields;
    this.retryAfter = extra.retryAfter;
  }
}
