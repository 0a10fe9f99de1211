import { describe, expect, it } from 'vitest';
import { bodyOf } from '../../../../src/cli/bulk/send/request-body.js';

const frozen = '{ "to" : ["99112233","88112233"],"text":"\\u0421айн \\/ 1.0e1", "n": 1.0 }';
const request = {
  number: 4,
  kind: 'batch' as const,
  to: ['99112233', '88112233'],
  lines: [2, 3],
  body: frozen,
  credits: 20,
};
const keyOf = (number: number, revision: number) => `key-${number}-${revision}`;

describe('the body of a request', () => {
  it('is the frozen bytes, however they are written', () => {
    expect(bodyOf(keyOf, request, 0, new Set())).toEqual({
      kind: 'batch',
      to: request.to,
      indexes: [0, 1],
      text: frozen,
      idempotencyKey: 'key-4-0',
    });
  });

  it('is written again only without the recipients that were taken out', () => {
    const body = bodyOf(keyOf, request, 1, new Set([0]));
    expect(body).toMatchObject({ to: ['88112233'], indexes: [1], idempotencyKey: 'key-4-1' });
    expect(body.text).toBe('{"to":["88112233"],"text":"Сайн / 1.0e1","n":1}');
  });
});
