/** Where requests go when nobody says otherwise: the address `urtuu serve` listens on, and the API version. */
export const defaultHost = '127.0.0.1';
export const defaultPort = 7788;
export const defaultBaseUrl = `http://${defaultHost}:${defaultPort}/v1`;

/** Bytes in a request body (Limits, Size limits). */
export const maxRequestBytes = 1_000_000;
/** Recipients in one batch. */
export const maxBatchRecipients = 1_000;
/** Refused entries that an `invalid_request` names. */
export const maxInvalidEntries = 50;
/** Bytes of `html` and `text` together, as UTF-8. */
export const maxEmailBodyBytes = 256 * 1024;
/** Characters in an email subject. */
export const maxSubjectLength = 255;
/** Active API keys in a project. */
export const maxActiveKeys = 10;

/** Request allowance per project and kind: tokens a second and the most that can be saved up. */
export const requestRates = {
  sending: { perSecond: 20, burst: 40 },
  reading: { perSecond: 10, burst: 10 },
} as const;
export type RequestKind = keyof typeof requestRates;

/** Messages one recipient may get from a project in a sliding window; each channel counts on its own. */
export const recipientCaps = [
  { windowSeconds: 600, defaultMessages: 5, maxMessages: 20 },
  { windowSeconds: 86_400, defaultMessages: 20, maxMessages: 80 },
] as const;

/** Idempotency keys are 1 to 255 printable ASCII characters (Limits, Idempotency, 2). */
export const maxIdempotencyKeyLength = 255;
export function isIdempotencyKey(value: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(value);
}

/** Verification codes: digits in a code, seconds of life, wrong tries allowed. */
export const verificationLimits = {
  codeLength: { min: 4, max: 8, default: 6 },
  expiresIn: { min: 60, max: 3_600, default: 600 },
  attempts: 5,
} as const;

/** Messages on one page of a batch's list. */
export const messagePage = { min: 1, max: 1_000, default: 100 } as const;
