import { describe, expect, it } from 'vitest';
import { type Answer, readError, readResult } from '../../../../src/cli/bulk/send/answer.js';
import {
  nextStep,
  type SentRequest,
  type Step,
  shortageAfter,
} from '../../../../src/cli/bulk/send/transitions.js';

const single: SentRequest = {
  kind: 'single',
  body: { to: ['99112233'] },
  unanswered: 0,
  foreignRefusals: 0,
  shortage: null,
};
const batch: SentRequest = {
  kind: 'batch',
  body: { to: ['99112233', '88112233', '95112233'] },
  unanswered: 0,
  foreignRefusals: 0,
  shortage: null,
};
const refusal = (code: string, status: number, extra: object = {}): Answer => ({
  kind: 'refusal',
  code,
  status,
  ...extra,
});
const acceptedAt = Date.parse('2026-11-21T00:00:00.000Z');
const figures = { credits: 30, balance: 970, replayOf: null, acceptedAt };

describe('the states of a request', () => {
  const table: [title: string, sent: SentRequest, answer: Answer, step: Step][] = [
    [
      'a batch with the planned total is accepted',
      batch,
      { kind: 'batch', id: 'b', total: 3, ...figures },
      { kind: 'accept', id: 'b', credits: 30, replayOf: null, acceptedAt },
    ],
    [
      'a batch with another total is an earlier result, to be compared',
      batch,
      { kind: 'batch', id: 'b', total: 2, ...figures },
      { kind: 'compare', id: 'b', total: 2, credits: 30, replayOf: null, acceptedAt },
    ],
    [
      'a price that is no number makes no answer believable',
      batch,
      { kind: 'batch', id: 'b', total: 3, ...figures, credits: null },
      { kind: 'alarm', reason: 'batch b has no price', stops: true },
    ],
    [
      'a message for the recipient is accepted, however the number is written',
      single,
      { kind: 'message', id: 'm', to: '+976 9911-2233', ...figures },
      { kind: 'accept', id: 'm', credits: 30, replayOf: null, acceptedAt },
    ],
    [
      'a message that failed is no acceptance, whatever the HTTP status',
      single,
      { kind: 'message', id: 'm', to: '99112233', failed: true, ...figures },
      { kind: 'fail', code: 'provider_failed', id: 'm' },
    ],
    [
      'a repeated answer that has lost its recipient is that of its key',
      single,
      { kind: 'message', id: 'm', to: '', ...figures, replayOf: '2026-01-01T00:00:00.000Z' },
      { kind: 'accept', id: 'm', credits: 30, replayOf: '2026-01-01T00:00:00.000Z', acceptedAt },
    ],
    [
      'a new answer without a recipient is an alarm',
      single,
      { kind: 'message', id: 'm', to: '', ...figures },
      {
        kind: 'alarm',
        reason: 'message m is for another recipient',
        mixUp: { to: '', wanted: '99112233' },
        stops: false,
      },
    ],
    [
      'a message for another recipient, replayed, is an alarm and no success',
      single,
      { kind: 'message', id: 'm', to: '88112233', ...figures },
      {
        kind: 'alarm',
        reason: 'message m is for another recipient',
        mixUp: { to: '88112233', wanted: '99112233' },
        stops: false,
      },
    ],
    [
      'refused entries are taken out',
      batch,
      refusal('invalid_request', 400, { invalid: ['+97688112233', '70112233'] }),
      { kind: 'remove', positions: [1] },
    ],
    [
      'refused entries that are no longer in the body are an old answer, bound to the key',
      batch,
      refusal('invalid_request', 400, { invalid: ['70112233'] }),
      { kind: 'revise', code: 'invalid_request' },
    ],
    [
      '... but not for ever',
      { ...batch, foreignRefusals: 25 },
      refusal('invalid_request', 400, { invalid: ['70112233'] }),
      { kind: 'reject', code: 'invalid_request' },
    ],
    [
      'a batch that is refused without entries is rejected',
      batch,
      refusal('invalid_request', 400),
      { kind: 'reject', code: 'invalid_request' },
    ],
    ...(
      [
        ['invalid_request', 400],
        ['unsupported_number', 422],
        ['message_too_long', 422],
        ['request_too_large', 413],
        ['some_new_code', 422],
      ] as const
    ).map(([code, status]): [string, SentRequest, Answer, Step] => [
      `${code} rejects a single send`,
      single,
      refusal(code, status),
      { kind: 'reject', code },
    ]),
    [
      'a cap sets a single send aside',
      single,
      refusal('recipient_rate_limited', 429, { retryAfter: 300 }),
      { kind: 'wait-for-recipient', seconds: 300 },
    ],
    [
      'provider_failed is final for its key',
      single,
      refusal('provider_failed', 502, { id: 'm' }),
      { kind: 'fail', code: 'provider_failed', id: 'm' },
    ],
    [
      'rate_limited waits as long as the service says',
      batch,
      refusal('rate_limited', 429, { retryAfter: 7 }),
      { kind: 'wait-for-project', seconds: 7 },
    ],
    [
      'any other 429 waits too',
      batch,
      refusal('slow_down', 429),
      { kind: 'wait-for-project', seconds: null },
    ],
    [
      'insufficient_credits stops',
      batch,
      refusal('insufficient_credits', 402, { balance: 5, required: 30, actual: 5 }),
      { kind: 'stop', code: 'insufficient_credits', status: 402 },
    ],
    [
      'insufficient_credits stops when the balance cannot be read',
      batch,
      refusal('insufficient_credits', 402, { balance: 5, required: 30, actual: null }),
      { kind: 'stop', code: 'insufficient_credits', status: 402 },
    ],
    [
      'insufficient_credits after a top-up repeats the key',
      { ...batch, shortage: { balance: 5, repeats: 0 } },
      refusal('insufficient_credits', 402, { balance: 5, required: 30, actual: 500 }),
      { kind: 'retry-refused', code: 'insufficient_credits' },
    ],
    [
      'an outdated balance that keeps coming back is bound to the key',
      { ...batch, shortage: { balance: 5, repeats: 1 } },
      refusal('insufficient_credits', 402, { balance: 5, required: 30, actual: 500 }),
      { kind: 'revise', code: 'insufficient_credits' },
    ],
    [
      '... unless a copy is unanswered: that keeps the key',
      { ...batch, unanswered: 1, shortage: { balance: 5, repeats: 9 } },
      refusal('insufficient_credits', 402, { balance: 5, required: 30, actual: 500 }),
      { kind: 'retry-refused', code: 'insufficient_credits' },
    ],
    [
      'a single send is not resolved by foreign entries while a copy is unanswered',
      { ...single, unanswered: 1 },
      refusal('invalid_request', 400, { invalid: ['70112233'] }),
      { kind: 'retry-in-doubt', code: 'invalid_request' },
    ],
    [
      '... but by its own, which answers every copy',
      { ...single, unanswered: 1 },
      refusal('invalid_request', 400, { invalid: ['+976 99112233'] }),
      { kind: 'reject', code: 'invalid_request' },
    ],
    [
      'foreign entries do not give a new key either while a copy is unanswered',
      { ...batch, unanswered: 1 },
      refusal('invalid_request', 400, { invalid: ['70112233'] }),
      { kind: 'retry-in-doubt', code: 'invalid_request' },
    ],
    [
      'entries of the body answer every copy',
      { ...batch, unanswered: 1 },
      refusal('invalid_request', 400, { invalid: ['88112233'] }),
      { kind: 'remove', positions: [1] },
    ],
    ...(
      [
        ['request_too_large', 413],
        ['teapot', 418],
      ] as const
    ).map(([code, status]): [string, SentRequest, Answer, Step] => [
      `${code} answers only its own copy`,
      { ...single, unanswered: 1 },
      refusal(code, status),
      { kind: 'retry-in-doubt', code },
    ]),
    ...(
      [
        ['invalid_request', 400],
        ['unsupported_number', 422],
      ] as const
    ).map(([code, status]): [string, SentRequest, Answer, Step] => [
      `${code} answers every copy`,
      { ...single, unanswered: 1 },
      refusal(code, status),
      { kind: 'reject', code },
    ]),
    [
      'provider_failed answers every copy',
      { ...single, unanswered: 1 },
      refusal('provider_failed', 502, { id: 'm' }),
      { kind: 'fail', code: 'provider_failed', id: 'm' },
    ],
    [
      'a balance that changes is not',
      { ...batch, shortage: { balance: 5, repeats: 1 } },
      refusal('insufficient_credits', 402, { balance: 6, required: 30, actual: 500 }),
      { kind: 'retry-refused', code: 'insufficient_credits' },
    ],
    ...(
      [
        ['unauthorized', 401],
        ['forbidden', 403],
        ['not_found', 404],
        ['method_not_allowed', 405],
        ['unsupported_media_type', 415],
      ] as const
    ).map(([code, status]): [string, SentRequest, Answer, Step] => [
      `${code} stops the job`,
      batch,
      refusal(code, status),
      { kind: 'stop', code, status },
    ]),
    ...['timeout', 'connection_error', 'unexpected_response', 'unavailable'].map(
      (code): [string, SentRequest, Answer, Step] => [
        `${code} leads to the same key and nowhere else`,
        batch,
        { kind: 'doubt', code },
        { kind: 'retry-in-doubt', code },
      ],
    ),
  ];
  it.each(table)('%s', (_, sent, answer, step) => expect(nextStep(sent, answer)).toEqual(step));

  it('counts only refusals with the same balance', () => {
    const once = shortageAfter(null, 5);
    expect(once).toEqual({ balance: 5, repeats: 0 });
    expect(shortageAfter(once, 5)).toEqual({ balance: 5, repeats: 1 });
    expect(shortageAfter(once, 6)).toEqual({ balance: 6, repeats: 0 });
    expect(shortageAfter(once, null)).toBeNull();
  });
});

describe('reading an answer', () => {
  it.each([
    ['timeout', null],
    ['connection_error', null],
    ['unexpected_response', 200],
    ['unexpected_response', 403],
    ['unavailable', 503],
    ['internal', 500],
    ['idempotency_conflict', 409],
  ])('%s with status %s is doubt', (code, status) => {
    expect(readError({ code, status })).toEqual({ kind: 'doubt', code });
  });

  it.each([
    ['provider_failed', 502],
    ['insufficient_credits', 402],
    ['rate_limited', 429],
  ])('%s with status %s is a refusal', (code, status) => {
    expect(readError({ code, status })).toMatchObject({ kind: 'refusal', code, status });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, '10', null, undefined])(
    'takes no price of %s',
    (credits) => {
      expect(readResult('batch', { id: 'b', total: 3, credits })).toMatchObject({ credits: null });
    },
  );

  it('takes a request that never left for nothing else', () => {
    const error = { code: 'connection_error', message: 'refused', status: null, requestSent: false };
    expect(readError(error)).toEqual({ kind: 'unsent', code: 'connection_error', detail: error.message });
    expect(readError({ ...error, requestSent: true }).kind).toBe('doubt');
    expect(readError({ code: 'unavailable', status: 503, requestSent: false }).kind).toBe('doubt');
  });

  it.each([
    null,
    [],
    {},
    { id: '' },
    { id: 'b' },
    { total: 3 },
    { id: 'b', total: '3' },
    { id: 'b', total: 1.5 },
    { id: 'b', total: -1 },
    { id: 'b', total: Number.NaN },
  ])('%j as a success is doubt', (result) => {
    expect(readResult('batch', result).kind).toBe('doubt');
    expect(readResult('single', result).kind).toBe('doubt');
  });

  it('throws any other error: it is internal', () => {
    expect(() => readError(new TypeError('x'))).toThrow(TypeError);
  });
});
