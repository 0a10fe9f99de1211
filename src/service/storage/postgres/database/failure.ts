import { ServiceError } from '../../../errors/service-error.js';

/** The state after a failed statement. */
export type Failure =
  /** It never reached the database. */
  | 'not_sent'
  /** Nobody knows whether it was committed. */
  | 'unknown'
  /** Rolled back; the same statement may succeed at once. */
  | 'conflict'
  /** Rolled back: the database is busy, or cannot be written to. */
  | 'unavailable'
  /** Rolled back because of the statement itself. */
  | 'refused';

/** A failed statement, with the driver's error as its cause. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly failure: Failure;
  readonly code: string;

  constructor(failure: Failure, cause: unknown) {
    const { code, message } = cause as { code?: unknown; message?: unknown };
    super(String(message ?? cause), { cause });
    this.failure = failure;
    this.code = typeof code === 'string' ? code : 'postgres';
  }
}

/** The error of a sent statement. */
export function failureOf(error: unknown): Failure {
  const { code } = (error ?? {}) as { code?: unknown };
  // The driver's own errors have none, or the socket's.
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return 'unknown';
  if (code === '40001' || code === '40P01') return 'conflict';
  if (isRearranged(code)) return 'unavailable';
  if (code === '25006' || code === '55P03' || code === '57014' || code.startsWith('53')) return 'unavailable';
  if (code.startsWith('08') || code.startsWith('57P')) return 'unknown';
  return 'refused';
}

/** A right, the schema, or a table, function or type in it is missing: the owner of the database is rearranging it. */
const isRearranged = (code: string) => ['42501', '3F000', '42P01', '42883', '42704'].includes(code);

/** Whether no connection of the pool is usable any more: the server is shutting down, or is now a standby. */
export function endsAllConnections(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === '25006' || code === '57P01' || code === '57P02' || code === '57P03';
}

export function unavailable(): ServiceError {
  return new ServiceError('unavailable', 'The database cannot be used now', { retryAfter: 1 });
}

/** Does the work. Its failures are 503 to a caller; only errors of a statement itself are passed on. */
export async function orUnavailable<Result>(
  work: Promise<Result>,
  report: (error: unknown) => void,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StatementError) || error.failure === 'refused') throw error;
    if (error.failure !== 'not_sent') report(error);
    throw unavailable();
  }
}
