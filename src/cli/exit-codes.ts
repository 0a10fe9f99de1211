import type { ErrorCode, RequestKind } from '../contract/index.js';

/** `urtuu help exit-codes` prints this table. */
export const exits = {
  ok: 0,
  internal: 1,
  usage: 2,
  partly: 3,
  key: 4,
  later: 5,
  doubt: 6,
  money: 7,
  input: 8,
  notSent: 9,
  wrongCode: 10,
  refused: 11,
  missing: 12,
  machine: 13,
  notFinal: 14,
} as const;
export type ExitCode = (typeof exits)[keyof typeof exits];

export const exitMeanings: Record<ExitCode, string> = {
  0: 'all accepted; with --wait, all sent and none unknown',
  1: 'internal error',
  2: 'usage: unknown option, missing value, no terminal for a prompt, a prompt declined or left',
  3: 'partly: some recipients, rows or ids failed or were left out, or with --wait may not have arrived (unknown)',
  4: 'key: missing, unknown to the service, or outside its scope',
  5: 'later: not sent, or not all of a job; nothing is in doubt; try again',
  6: 'in doubt: it may have been sent; repeat with the same key',
  7: 'money: the balance is too low, or it would be over your limit',
  8: 'input: a number, text or file content that cannot be sent',
  9: 'not sent, refunded',
  10: 'wrong or closed verification code',
  11: 'refused: the job is done, cancelled, running or different, or the key was used for another message',
  12: 'not found: no such id, job or data, or the service does not offer it',
  13: 'this machine: full disk, unreadable file, unsafe configuration',
  14: 'not final yet: --wait ran out of time or could not read the outcome (accepted, not in doubt), or a cancelled job still runs',
};

/** A failed request that creates something may have done so; a failed read has no effect. */
type ByKind = Record<RequestKind, ExitCode>;
const unanswered: ByKind = { sending: exits.doubt, reading: exits.later };

export const exitOfCode = {
  invalid_request: exits.input,
  unauthorized: exits.key,
  forbidden: exits.key,
  insufficient_credits: exits.money,
  not_found: exits.missing,
  method_not_allowed: exits.input,
  verification_closed: exits.wrongCode,
  cursor_expired: exits.refused,
  request_too_large: exits.input,
  unsupported_media_type: exits.input,
  unsupported_number: exits.input,
  message_too_long: exits.input,
  recipient_suppressed: exits.input,
  invalid_code: exits.wrongCode,
  rate_limited: exits.later,
  recipient_rate_limited: exits.later,
  provider_failed: exits.notSent,
  unavailable: unanswered,
  timeout: unanswered,
  connection_error: unanswered,
  unexpected_response: unanswered,
} as const satisfies Record<ErrorCode, ExitCode | ByKind>;

/** Whether a refusal depends on the key: another key gets past it, a later attempt does not. */
export const isOfKey = (code: string): boolean =>
  exitOfFailure({ code, status: null }, 'reading') === exits.key;

export interface FailedRequest {
  code: string;
  status: number | null;
  /** The client's verdict on the whole call; without it, `requestKind` decides if no answer came. */
  inDoubt?: boolean;
}

/**
 * Codes unknown to this version are mapped by their HTTP status. `requestKind`: `sending`
 * for every POST.
 */
export function exitOfFailure(failure: FailedRequest, requestKind: RequestKind): ExitCode {
  if (failure.inDoubt) return exits.doubt;
  const kind = failure.inDoubt === false ? 'reading' : requestKind;
  const known = Object.hasOwn(exitOfCode, failure.code) ? exitOfCode[failure.code as ErrorCode] : undefined;
  if (known !== undefined) return typeof known === 'number' ? known : known[kind];
  const status = failure.status ?? 0;
  if (status === 401 || status === 403) return exits.key;
  if (status === 402) return exits.money;
  if (status === 404) return exits.missing;
  if (status === 429) return exits.later;
  return status >= 400 && status < 500 ? exits.input : unanswered[kind];
}
