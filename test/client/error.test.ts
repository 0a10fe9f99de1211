import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { UrtuuError, type UrtuuErrorCode, type UrtuuErrorParts } from '../../src/client/index.js';

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

  it('can be extended, and the subclass is an UrtuuError in all its parts', () => {
    class OrderError extends UrtuuError {
      override readonly name = 'OrderError';
      readonly order: number;
      constructor(order: number, parts: UrtuuErrorParts) {
        super(parts);
        this.order = order;
      }
    }
    const fields = { balance: 1, required: 10 };
    const parts = { code: 'insufficient_credits', message: 'no', status: 402, retryAfter: null, fields };
    const thrown: UrtuuError = new OrderError(17, parts);
    expect(thrown).toBeInstanceOf(OrderError);
    expect(thrown).toBeInstanceOf(UrtuuError);
    expect(String(thrown)).toBe('OrderError: no');
    expect(thrown.toJSON()).toMatchObject({ name: 'OrderError', order: 17, message: 'no', ...fields });
    if (!(thrown instanceof UrtuuError && thrown.code === 'insufficient_credits')) throw thrown;
    expect(thrown.required - thrown.balance).toBe(9);
  });

  it('lets a subclass assign its name', () => {
    class Renamed extends UrtuuError {}
    const renamed = new Renamed({ code: 'timeout', message: 'no', status: null, retryAfter: null });
    expect(Object.assign(renamed, { name: 'Renamed' }).name).toBe('Renamed');
    expect(error('timeout').name).toBe('UrtuuError');
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
