import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { UrtuuError, type UrtuuErrorCode } from '../../src/client/index.js';

const error = (code: string, fields = {}) =>
  new UrtuuError({ code, message: 'no', status: 402, retryAfter: null, fields });

describe('UrtuuError', () => {
  it('is an Error that shows its code and fields', () => {
    const shown = error('insufficient_credits', { balance: 1, required: 10 });
    expect(shown).toBeInstanceOf(UrtuuError);
    expect(shown).toBeInstanceOf(Error);
    expect(shown.name).toBe('UrtuuError');
    expect(String(shown)).toBe('UrtuuError: no');
    expect(shown.stack).toMatch(/^UrtuuError: no\n {4}at /);
    expect(inspect(shown)).toContain("code: 'insufficient_credits'");
    expect(inspect(shown)).toContain('required: 10');
    expect(Object.keys(shown)).toEqual([
      'code',
      'status',
      'retryAfter',
      'requestSent',
      'inDoubt',
      'idempotencyKey',
      'requestId',
      'attempts',
      'balance',
      'required',
    ]);
    expect('cause' in shown).toBe(false);
  });

  it('is JSON of its name, its message and its fields, never of its cause', () => {
    const cause: Record<string, unknown> = {};
    cause.itself = cause;
    const parts = {
      code: 'provider_failed',
      message: 'no',
      status: 502,
      retryAfter: null,
      fields: { id: 'm1' },
    };
    const sent = { requestSent: true, inDoubt: false, idempotencyKey: 'k', requestId: 'r-1', attempts: 3 };
    expect(JSON.parse(JSON.stringify(new UrtuuError({ ...parts, ...sent, cause })))).toEqual({
      name: 'UrtuuError',
      code: 'provider_failed',
      message: 'no',
      status: 502,
      retryAfter: null,
      id: 'm1',
      ...sent,
    });
  });

  it('narrows its fields by code', () => {
    const thrown: unknown = error('insufficient_credits', { balance: 1, required: 10 });
    if (!(thrown instanceof UrtuuError)) throw thrown;
    expectTypeOf<'not_found' | 'of_tomorrow'>().toExtend<UrtuuErrorCode>();
    expectTypeOf(thrown.status).toEqualTypeOf<number | null>();
    expectTypeOf(thrown.retryAfter).toEqualTypeOf<number | null>();
    expectTypeOf(thrown.balance).toEqualTypeOf<number | undefined>();
    expectTypeOf(thrown.invalid).toEqualTypeOf<string[] | undefined>();
    expectTypeOf(thrown.id).toEqualTypeOf<string | undefined>();

    if (thrown.code === 'insufficient_credits') {
      expectTypeOf(thrown.balance).toEqualTypeOf<number>();
      expectTypeOf(thrown.required).toEqualTypeOf<number>();
      expectTypeOf(thrown.id).toEqualTypeOf<undefined>();
      expect(thrown.required - thrown.balance).toBe(9);
    }
    if (thrown.code === 'invalid_code') expectTypeOf(thrown.attempts_remaining).toEqualTypeOf<number>();
    if (thrown.code === 'provider_failed') expectTypeOf(thrown.id).toEqualTypeOf<string>();
    if (thrown.code === 'invalid_request') expectTypeOf(thrown.invalid).toEqualTypeOf<string[] | undefined>();
    // Open to the codes of later versions: this must compile.
    if (thrown.code === 'quota_of_tomorrow') expectTypeOf(thrown.message).toEqualTypeOf<string>();
    switch (thrown.code) {
      case 'insufficient_credits':
        expectTypeOf(thrown.balance).toEqualTypeOf<number>();
        break;
      case 'rate_limited':
      case 'timeout':
        expectTypeOf(thrown.balance).toEqualTypeOf<undefined>();
        break;
    }
  });
});
