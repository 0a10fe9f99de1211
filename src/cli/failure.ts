import type { UrtuuError } from '../client/index.js';
import type { ErrorCode, RequestKind } from '../contract/index.js';
import { withCommands } from './command-line.js';
import { CliError } from './errors.js';
import { type ExitCode, exitMeanings, exitOfFailure, exits } from './exit-codes.js';
import { hints, hintsByErrno } from './hints.js';
import type { Exchange } from './network/exchange.js';
import { counted, grouped } from './output/wording.js';

/** An error as a person and a program are told of it. */
export interface Failure {
  code: string;
  message: string;
  hint?: string;
  exit: ExitCode;
  /** Running the same command later can succeed, and harms nothing. */
  retryable: boolean;
  status: number | null;
  /** Seconds. */
  retry_after: number | null;
  request_id: string | null;
  [field: string]: unknown;
}

interface FailureContext {
  readonly lastExchange: Exchange | null;
  commandLine(words: readonly string[]): string;
}

/** What an error that ended a command means. Errors nobody foresaw are faults of the program. */
export async function failureOf(error: unknown, context: FailureContext): Promise<Failure> {
  const failure = await rawFailureOf(error, context.lastExchange);
  if (failure.hint !== undefined)
    failure.hint = withCommands(failure.hint, (words) => context.commandLine(words));
  return failure;
}

async function rawFailureOf(error: unknown, last: Exchange | null): Promise<Failure> {
  if (error instanceof CliError) {
    const { code, message, hint, exit, details } = error;
    const retryable = exit === exits.later || exit === exits.notFinal;
    return { ...bare(code, message, exit, hint), retryable, ...details };
  }
  const { UrtuuError } = await import('../client/index.js');
  if (error instanceof UrtuuError) return failureOfRequest(error, last);
  if (isRefusal(error)) {
    return bare(error.code, error.message, exitOfFailure(error, 'reading'), hintOfCode(error.code));
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return bare(
    'fault',
    `a fault of the program: ${message}`,
    exits.fault,
    'Please report it; -v shows where.',
  );
}

/** A command that did what it could, printed its result, and ends with another code than 0. */
export function failureOfEnd(exit: ExitCode, said: { message: string; hint?: string } | null): Failure {
  const code = codesOfEnd[exit] ?? 'ended';
  const failure = bare(code, said?.message ?? exitMeanings[exit], exit, said?.hint);
  return { ...failure, retryable: exit === exits.later || exit === exits.doubt || exit === exits.notFinal };
}

const codesOfEnd: Partial<Record<ExitCode, string>> = {
  [exits.partly]: 'partly',
  [exits.later]: 'unfinished',
  [exits.doubt]: 'in_doubt',
  [exits.money]: 'out_of_credits',
  [exits.input]: 'rejected',
  [exits.notSent]: 'not_sent',
  [exits.machine]: 'machine',
  [exits.notFinal]: 'not_final',
};

/** A failed request; `last` is its exchange. */
export function failureOfRequest(error: UrtuuError, last: Exchange | null): Failure {
  const kind = last?.kind ?? 'reading';
  const exit = exitOfFailure(error, kind);
  const key = exit === exits.doubt ? (last?.idempotencyKey ?? null) : null;
  const {
    code,
    message,
    status,
    retryAfter,
    name: _,
    stack: __,
    cause: ___,
    ...fields
  } = {
    ...error,
    message: error.message,
  };
  return {
    ...bare(code, message, exit, hintOf(error, exit, kind, key)),
    retryable: exit === exits.later || key !== null,
    status,
    retry_after: retryAfter,
    request_id: last?.requestId ?? null,
    ...(key === null ? {} : { idempotency_key: key }),
    ...fields,
  };
}

function bare(code: string, message: string, exit: ExitCode, hint: string | undefined): Failure {
  return {
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    exit,
    retryable: false,
    status: null,
    retry_after: null,
    request_id: null,
  };
}

function hintOf(error: UrtuuError, exit: ExitCode, kind: RequestKind, key: string | null): string {
  if (key !== null) {
    return `It may have been sent. Repeat it with --idempotency-key ${key}: that cannot send it twice.`;
  }
  if (exit === exits.doubt) return 'It may have arrived. Look before you run it again.';
  if (error.code === 'insufficient_credits' && error.required !== undefined) {
    return `Nothing was sent: it needs ${counted(error.required, 'credit')}, ${grouped(error.balance ?? 0)} are left. Add some, then run it again.`;
  }
  if (error.code === 'invalid_code' && error.attempts_remaining !== undefined) {
    return `Tries left: ${error.attempts_remaining}.`;
  }
  if (error.retryAfter !== null) {
    return `${kind === 'sending' ? 'Nothing was sent. ' : ''}Try again in ${error.retryAfter} s.`;
  }
  const errno = (error.cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  return hintsByErrno[errno] ?? hintOfCode(error.code);
}

function hintOfCode(code: string): string {
  if (Object.hasOwn(hints, code)) return hints[code as ErrorCode];
  return 'This version does not know the code; a newer one may: urtuu --version';
}

/** What the administration of a service on this machine refuses. */
function isRefusal(error: unknown): error is Error & { code: string; status: number } {
  if (!(error instanceof Error) || !('code' in error) || !('status' in error)) return false;
  return typeof error.code === 'string' && typeof error.status === 'number';
}
