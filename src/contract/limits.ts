/** The default address of `urtuu serve`. */
export const defaultHost = '127.0.0.1';
export const defaultPort = 7788;
export const defaultBaseUrl = `http://${defaultHost}:${defaultPort}/v1`;

/** Bytes of a request body (Limits, Size limits). */
export const maxRequestBytes = 1_000_000;
/** Recipients of one batch. */
export const maxBatchRecipients = 1_000;
/** Refused entries listed in an `invalid_request`. */
export const maxInvalidEntries = 50;
/** Bytes of `html` and `text` together, in UTF-8. */
export const maxEmailBodyBytes = 256 * 1024;
/** Characters in an email subject. */
export const maxSubjectLength = 255;
/** Characters in `from_name`: a longer one makes a header line that mail servers may refuse. */
export const maxSenderNameLength = 255;
/** Active API keys in a project. */
export const maxActiveKeys = 10;

/** Rate limits per project and kind of request: tokens per second, and the size of the token bucket. */
export const requestRates = {
  sending: { perSecond: 20, burst: 40 },
  reading: { perSecond: 10, burst: 10 },
} as const;
export type RequestKind = keyof typeof requestRates;

/** Messages per recipient, project and channel in a sliding window. */
export const recipientCaps = [
  { windowSeconds: 600, defaultMessages: 5, maxMessages: 20 },
  { windowSeconds: 86_400, defaultMessages: 20, maxMessages: 80 },
] as const;

/** A request header of sends that belong to a list, which other services ignore. */
export const classHeader = 'Urtuu-Class';
export const bulkClass = 'bulk';

/** Idempotency keys are 1 to 255 printable ASCII characters (Limits, Idempotency, 2). */
export const maxIdempotencyKeyLength = 255;
export function isIdempotencyKey(value: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(value);
}

/** Digits of a code, seconds until it expires, wrong codes allowed. */
export const verificationLimits = {
  codeLength: { min: 4, max: 8, default: 6 },
  expiresIn: { min: 60, max: 3_600, default: 600 },
  attempts: 5,
} as const;

/** Items on one page of a list. */
export const messagePage = { min: 1, max: 1_000, default: 100 } as const;

/** No line breaks, no other control characters, no unpaired surrogates (POST /v1/email, `subject` and `from_name`). */
export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text);
}

/** Characters as limits count them: one for each code point. */
export const characters = (text: string): number => [...text].length;
