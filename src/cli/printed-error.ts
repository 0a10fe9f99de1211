import type { UrtuuError } from '../client/index.js';
import { type ConnectFailure, connectFailure } from '../client/transport/connect.js';
import {
  defaultBaseUrl,
  defaultPort,
  type ErrorCode,
  isLoopback,
  type RequestKind,
} from '../contract/index.js';
import {
  hints,
  hintsByErrno,
  hintsBySqlite,
  ownKeyHint,
  sandboxCapHint,
  sandboxCreditHint,
  unknownRouteHint,
} from './error-hints.js';
import { CliError } from './errors.js';
import { type ExitCode, exitMeanings, exitOfFailure, exits } from './exit-codes.js';
import type { Exchange } from './network/exchange.js';
import { counted, duration, grouped } from './text/wording.js';

/** An error as it is printed, for a person or as JSON. */
export interface PrintedError {
  code: string;
  message: string;
  hint?: string;
  exit: ExitCode;
  /** Whether running the same command later is safe and can succeed. */
  retryable: boolean;
  status: number | null;
  /** Seconds. */
  retry_after: number | null;
  request_id: string | null;
  [field: string]: unknown;
}

interface Source {
  readonly network: {
    /** The last finished exchange. */
    readonly lastExchange: Exchange | null;
    /** A posted request without a known outcome. */
    readonly pendingSend?: Exchange | null;
  };
  readonly config: { readonly sandbox: boolean; withCommands(text: string): string };
}

export async function printedError(error: unknown, { network, config }: Source): Promise<PrintedError> {
  const printed = await withoutCommands(error, network, isSandboxed(config, network));
  if (printed.hint !== undefined) printed.hint = config.withCommands(printed.hint);
  return printed;
}

/** Whether the last request went to the embedded service. A setting that is invalid cannot tell. */
const isSandboxed = (config: Source['config'], { lastExchange }: Source['network']) =>
  lastExchange !== null && config.sandbox;

/** The commands in its hint are still in backticks. */
async function withoutCommands(
  error: unknown,
  { lastExchange: last, pendingSend: pending = null }: Source['network'],
  sandboxed: boolean,
): Promise<PrintedError> {
  if (error instanceof CliError) {
    const { code, message, hint, exit, details } = error;
    const retryable = exit === exits.later || exit === exits.notFinal;
    return { ...bare(code, message, exit, hint), retryable, ...details };
  }
  const { UrtuuError } = await import('../client/index.js');
  if (error instanceof UrtuuError) {
    return requestError(error, last, sandboxed);
  }
  if (isRefusal(error)) {
    return bare(
      error.code,
      error.message,
      exitOfFailure(error, 'reading'),
      error.hint ?? hintOfCode(error.code),
    );
  }
  const internal = sqliteError(error) ?? internalError(error);
  if (pending === null) return internal;
  const key = pending.idempotencyKey;
  const hint = doubtHint(key, pending, false);
  return { ...internal, exit: exits.doubt, hint, ...(key === null ? {} : { idempotency_key: key }) };
}

function internalError(error: unknown): PrintedError {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return bare('fault', `internal error: ${message}`, exits.internal, 'Please report it; -v shows where.');
}

/** For a data file that cannot be read or written; null for other errors. */
function sqliteError(error: unknown): PrintedError | null {
  const { code, errcode = 0, message } = (error ?? {}) as Error & { code?: unknown; errcode?: number };
  const hint = code === 'ERR_SQLITE_ERROR' ? hintsBySqlite[errcode & 0xff] : undefined;
  if (hint === undefined) return null;
  return bare('machine', `the data cannot be used: ${message}`, exits.machine, hint);
}

/** For a command that printed its result and exits with a code other than 0. */
export function printedExit(
  exit: ExitCode,
  conclusion: { message: string; hint?: string } | null,
): PrintedError {
  const code = codeOfExit[exit] ?? 'ended';
  const printed = bare(code, conclusion?.message ?? exitMeanings[exit], exit, conclusion?.hint);
  return { ...printed, retryable: exit === exits.later || exit === exits.doubt || exit === exits.notFinal };
}

const codeOfExit: Partial<Record<ExitCode, string>> = {
  [exits.partly]: 'partly',
  [exits.later]: 'unfinished',
  [exits.doubt]: 'in_doubt',
  [exits.money]: 'out_of_credits',
  [exits.input]: 'rejected',
  [exits.notSent]: 'not_sent',
  [exits.machine]: 'machine',
  [exits.notFinal]: 'not_final',
};

/** `last`: the exchange of the failed request. */
function requestError(error: UrtuuError, last: Exchange | null, sandboxed: boolean): PrintedError {
  const kind = last?.kind ?? 'reading';
  const exit = exitOfFailure(error, kind);
  const unreached = connectFailure(error.cause);
  const { code, status, retryAfter, requestId, attempts, idempotencyKey, requestSent, inDoubt, ...fields } = {
    ...error,
  };
  const message =
    unreached === null || last === null || code === 'timeout' ? error.message : notConnected(last, unreached);
  return {
    ...bare(code, message, exit, hintOf(error, { exit, kind, unreached, last, sandboxed })),
    retryable: exit === exits.later || (exit === exits.doubt && idempotencyKey !== null),
    status,
    retry_after: retryAfter,
    request_id: requestId,
    attempts,
    ...(exit === exits.doubt && idempotencyKey !== null ? { idempotency_key: idempotencyKey } : {}),
    ...fields,
  };
}

function notConnected({ baseUrl }: Exchange, { reason }: ConnectFailure): string {
  const origin = baseUrl === defaultBaseUrl ? ' (the default; set URTUU_BASE_URL)' : '';
  return `cannot connect to ${baseUrl}${origin}: ${reason}`;
}

function bare(code: string, message: string, exit: ExitCode, hint: string | undefined): PrintedError {
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

interface Failure {
  exit: ExitCode;
  kind: RequestKind;
  unreached: ConnectFailure | null;
  last: Exchange | null;
  sandboxed: boolean;
}

function hintOf(error: UrtuuError, { exit, kind, unreached, last, sandboxed }: Failure): string {
  const isRefused =
    unreached !== null || (error.status !== null && error.status >= 400 && error.status < 500);
  if (exit === exits.doubt) return doubtHint(error.idempotencyKey, last, isRefused && error.attempts > 1);
  const nothing = kind === 'sending' ? 'Nothing was sent. ' : '';
  if (error.code === 'insufficient_credits' && error.required !== undefined) {
    return `Nothing was sent: it needs ${counted(error.required, 'credit')}, and ${grouped(error.balance ?? 0)} are left. ${sandboxed ? sandboxCreditHint : 'Add credits, then run it again.'}`;
  }
  if (error.code === 'invalid_code' && error.attempts_remaining !== undefined) {
    const left = error.attempts_remaining;
    return `Attempts remaining: ${left}.${left === 0 ? ' Create a new verification.' : ''}`;
  }
  if (error.code === 'provider_failed' && error.idempotencyKey === null)
    return "It wasn't sent or charged. Run it again for a new code.";
  if (sandboxed && error.code === 'recipient_rate_limited') return sandboxCapHint(error.retryAfter);
  if (error.retryAfter !== null) return `${nothing}Try again in ${duration(error.retryAfter)}.`;
  if (unreached !== null) return nothing + hintOfConnection(unreached, last);
  if (error.code === 'not_found' && last !== null && isUnknownRoute(last))
    return sandboxed ? 'Check the path.' : unknownRouteHint(last.baseUrl);
  if (error.code === 'not_found' && sandboxed) return 'Check the id.';
  if (error.code === 'forbidden' && (sandboxed || isHere(last))) return ownKeyHint;
  return hintOfCode(error.code);
}

function doubtHint(key: string | null, last: Exchange | null, isEarlierAttempt: boolean): string {
  const what = isEarlierAttempt ? 'An earlier attempt may have been sent' : 'It may have been sent';
  if (key !== null) return `${what}. Repeat it with --idempotency-key ${key}, which cannot send it twice.`;
  const [, path = '', checked] = /\/(verify(?:\/([^/]+)\/check)?)$/.exec(last?.url ?? '') ?? [];
  if (checked !== undefined)
    return `The code may have been checked. See the status with: \`urtuu verify get ${checked}\``;
  if (path !== '')
    return 'A code may have been sent: ask the recipient. A new verification sends another code and charges for it.';
  return 'It may have arrived. Check before you run it again.';
}

function hintOfConnection({ code }: ConnectFailure, last: Exchange | null): string {
  if (code === 'ECONNREFUSED' && isHere(last)) {
    const { port } = new URL(last.baseUrl);
    const where = port === String(defaultPort) ? '' : ` --port ${port || '80'}`;
    return `Nothing listens there. Start the service with: \`urtuu serve${where}\`; or try: --sandbox`;
  }
  return (code === null ? undefined : hintsByErrno[code]) ?? hints.connection_error;
}

/** Whether the service could be a `urtuu serve` on this machine. */
export function isHere(last: Exchange | null): last is Exchange {
  if (last === null) return false;
  const { protocol, hostname } = new URL(last.baseUrl);
  return protocol === 'http:' && isLoopback(hostname);
}

/** Without its version in the base URL, no route is known; ids have a route of two names. */
const isUnknownRoute = ({ baseUrl, url }: Exchange) =>
  !/\/v\d+$/.test(baseUrl) || /^\/[^/]*$/.test(url.slice(baseUrl.length));

function hintOfCode(code: string): string {
  if (Object.hasOwn(hints, code)) return hints[code as ErrorCode];
  return "This version doesn't know this error; a newer one may. See: `urtuu --version`";
}

/** An error from the administration of a service on this machine. */
function isRefusal(error: unknown): error is Error & { code: string; status: number; hint?: string } {
  if (!(error instanceof Error) || !('code' in error) || !('status' in error)) return false;
  return typeof error.code === 'string' && typeof error.status === 'number';
}
