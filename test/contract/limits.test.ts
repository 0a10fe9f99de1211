import { describe, expect, it } from 'vitest';
import * as contract from '../../src/contract/index.js';

describe('Limits', () => {
  it('has the figures of the interface', () => {
    expect(contract.requestRates).toEqual({
      sending: { perSecond: 20, burst: 40 },
      reading: { perSecond: 10, burst: 10 },
    });
    expect(contract.recipientCaps).toEqual([
      { windowSeconds: 600, defaultMessages: 5, maxMessages: 20 },
      { windowSeconds: 86_400, defaultMessages: 20, maxMessages: 80 },
    ]);
    expect(contract.maxEmailBodyBytes).toBe(262_144);
    expect(contract.maxSubjectLength).toBe(255);
    expect(contract.maxBatchRecipients).toBe(1_000);
    expect(contract.maxActiveKeys).toBe(10);
    expect(contract.maxInvalidEntries).toBe(50);
  });

  it.each([
    ['a', true],
    ['a b~!', true],
    ['a'.repeat(255), true],
    ['a'.repeat(256), false],
    ['', false],
    ['ключ', false],
    ['a\n', false],
    ['a\x7f', false],
  ])('an idempotency key is 1 to 255 printable ASCII characters: %j %s', (key, valid) => {
    expect(contract.isIdempotencyKey(key)).toBe(valid);
  });
});

describe('Errors', () => {
  it('has the statuses of the interface and of the service', () => {
    const statuses = Object.fromEntries(
      Object.entries(contract.serviceErrors).map(([code, { status }]) => [code, status]),
    );
    expect(statuses).toEqual({
      invalid_request: 400,
      unauthorized: 401,
      forbidden: 403,
      insufficient_credits: 402,
      not_found: 404,
      method_not_allowed: 405,
      verification_closed: 409,
      cursor_expired: 410,
      request_too_large: 413,
      unsupported_media_type: 415,
      unsupported_number: 422,
      message_too_long: 422,
      recipient_suppressed: 422,
      invalid_code: 422,
      rate_limited: 429,
      recipient_rate_limited: 429,
      provider_failed: 502,
      unavailable: 503,
    });
  });
});
