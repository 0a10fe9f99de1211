import { type ConnectFailure, connectFailure } from '../client/connect.js';
import type { UrtuuError } from '../client/index.js';
import { defaultBaseUrl, type ErrorCode, isLoopback, type RequestKind } from '../contract/index.js';
import { withCommands } from './command-line.js';
import { CliError } from './errors.js';
import { type ExitCode, exitMeanings, exitOfFailure, exits } from './exit-codes.js';
import { hints, hintsByErrno } from './hints.js';
import type { Exchange } from './network/exchange.js';
import { counted, grouped } from './wording.js';

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
  readonly network: {
    /** The newest exchange that has ended. */
    readonly lastExchange: Exchange | null;
    /** A posted request that nothing has settled. */
    readonly pendingSend?: Exchange | null;
  };
  readonly config: { commandLine(words: readonly string[]): string };
}

/** What an error that ended a command means. Errors nobody foresaw are faults of the program. */
export async function failureOf(error: unknown, context: FailureContext): Promise<Failure> {
  const failure = await rawFailureOf(
    error,
    context.network.lastExchange,
    context.network.pendingSend ?? null,
  );
  if (failure.hint !== undefined)
    failure.hint = withCommands(failure.hint, (words) => context.config.commandLine(words));
  return failure;
}

async function rawFailureOf(
  error: unknown,
  last: Exchange | null,
  pending: Exchange | null,
): Promise<Failure> {
  if (error instanceof CliError) {
    const { code, message, hint, exit, details } = error;
    const retryable = exit === exits.later || exit === exits.notFinal;
    return { ...bare(code, message, exit, hint), retryable, ...details };
  }
  const { UrtuuError } = await import('../client/index.js');
  if (error instanceof UrtuuError) {
    // A proxy's address that is none, say: found on the way to the connection.
    if (error.cause instanceof CliError && !error.requestSent) return rawFailureOf(error.cause, last, null);
    return failureOfRequest(error, last);
  }
  if (isRefusal(error)) {
    return bare(error.code, error.message, exitOfFailure(error, 'reading'), hintOfCode(error.code));
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const fault = bare(
    'fault',
    `a fault of the program: ${message}`,
    exits.fault,
    'Please report it; -v shows where.',
  );
  if (pending === null) return fault;
  const key = pending.idempotencyKey;
  const hint = doubtHint(key, false);
  return { ...fault, exit: exits.doubt, hint, ...(key === null ? {} : { idempotency_key: key }) };
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
  const unreached = connectFailure(error.cause);
  const { code, status, retryAfter, requestId, attempts, idempotencyKey, requestSent, inDoubt, ...fields } = {
    ...error,
  };
  const message =
    unreached === null || last === null || code === 'timeout' ? error.message : notConnected(last, unreached);
  return {
    ...bare(code, message, exit, hintOf(error, exit, kind, unreached, last)),
    retryable: exit === exits.later || (exit === exits.doubt && idempotencyKey !== null),
    status,
    retry_after: retryAfter,
    request_id: requestId,
    attempts,
    ...(exit === exits.doubt && idempotencyKey !== null ? { idempotency_key: idempotencyKey } : {}),
    ...fields,
  };
}

/** Where it was to go, and why it did not get there. */
function notConnected({ baseUrl }: Exchange, { reason }: ConnectFailure): string {
  const origin = baseUrl === defaultBaseUrl ? ' (the default; set URTUU_BASE_URL)' : '';
  return `cannot connect to ${baseUrl}${origin}: ${reason}`;
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

function hintOf(
  error: UrtuuError,
  exit: ExitCode,
  kind: RequestKind,
  unreached: ConnectFailure | null,
  last: Exchange | null,
): string {
  // An answer that refuses, after an attempt that had none.
  const earlier = unreached !== null || (error.status !== null && error.status >= 400 && error.status < 500);
  if (exit === exits.doubt) return doubtHint(error.idempotencyKey, earlier && error.attempts > 1);
  const nothing = kind === 'sending' ? 'Nothing was sent. ' : '';
  if (error.code === 'insufficient_credits' && error.required !== undefined) {
    return `Nothing was sent: it needs ${counted(error.required, 'credit')}, ${grouped(error.balance ?? 0)} are left. Add some, then run it again.`;
  }
  if (error.code === 'invalid_code' && error.attempts_remaining !== undefined) {
    return `Tries left: ${error.attempts_remaining}.`;
  }
  if (error.retryAfter !== null) return `${nothing}Try again in ${error.retryAfter} s.`;
  if (unreached !== null) return nothing + hintOfConnection(unreached, last);
  return hintOfCode(error.code);
}

function doubtHint(key: string | null, earlier: boolean): string {
  const what = earlier ? 'An earlier attempt may have been sent' : 'It may have been sent';
  if (key !== null) return `${what}. Repeat it with --idempotency-key ${key}: that cannot send it twice.`;
  return 'It may have arrived. Look before you run it again.';
}

function hintOfConnection({ code }: ConnectFailure, last: Exchange | null): string {
  if (code === 'ECONNREFUSED' && last !== null && isLoopback(new URL(last.baseUrl).hostname)) {
    return 'Nothing listens there. Start the service with: urtuu serve; or try: --sandbox';
  }
  return (code === null ? undefined : hintsByErrno[code]) ?? hints.connection_error;
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
