import { describe, expect, it } from 'vitest';
import type { FetchLike } from '../../../src/client/index.js';
import { clientWith, failureOf } from '../../support/client.js';
import { reads, sends, sms, verifying } from '../../support/client-methods.js';
import { batchResult, pricing, smsResult, verification } from '../../support/resources.js';

const message = smsResult();
const batch = batchResult();
const verified = verification({ id: 'v', status: 'verified' });

const methods = { ...sends, ...verifying, ...reads };
type Name = keyof typeof methods;

const answering =
  (text: string, headers: Record<string, string> = {}): FetchLike =>
  async () =>
    new Response(text, { headers });

/** What proves a success, and what it proves nothing without: the field that the error names. */
const rows: [names: Name[], proof: object, without: [answer: string | object, field: string][]][] = [
  [
    ['sms.send', 'email.send'],
    message,
    [
      [{}, 'id'],
      [{ ...message, id: undefined }, 'id'],
      [{ ...message, id: '' }, 'id'],
      [{ ...message, id: 7 }, 'id'],
      [{ ...message, id: null }, 'id'],
      [{ ...message, status: undefined }, 'status'],
      [{ ...message, status: 'accepted' }, 'status'],
      [{ ...message, status: ['sent'] }, 'status'],
      [{ ...message, to: undefined }, 'to'],
      [{ ...message, to: null }, 'to'],
      [{ ...message, to: '' }, 'to'],
      [{ ...message, credits: '10' }, 'credits'],
      ['{"id":"m","status":"sent","to":"99112233","credits":-1e999}', 'credits'],
      ['{"id":"m","status":"sent","to":"99112233","balance":1e999}', 'balance'],
      // An error in a success is no success.
      [{ error: { code: 'provider_failed' } }, 'id'],
    ],
  ],
  [
    ['sms.sendBulk', 'email.sendBulk', 'batches.get'],
    batch,
    [
      [{}, 'id'],
      [message, 'total'],
      [{ ...batch, id: '' }, 'id'],
      [{ ...batch, total: '2' }, 'total'],
      [{ ...batch, total: 1.5 }, 'total'],
      [{ ...batch, total: -1 }, 'total'],
      ['{"id":"b","total":1e999}', 'total'],
      ['{"id":"b","total":2,"credits":1e999}', 'credits'],
    ],
  ],
  [
    ['verify.create', 'verify.get', 'messages.get'],
    verified,
    [
      [{}, 'id'],
      [{ id: 'v' }, 'status'],
      [{ id: 'v', status: null }, 'status'],
      [{ ...verified, credits: [] }, 'credits'],
    ],
  ],
  [
    ['verify.check'],
    verified,
    [
      [{}, 'id'],
      [{ status: 'verified' }, 'id'],
      [{ id: 'v2', status: 'verified' }, 'id'],
      [{ id: 'v' }, 'status'],
      [{ id: 'v', status: 'pending' }, 'status'],
      [{ id: 'v', status: 'failed' }, 'status'],
      [{ id: 'v', status: 'expired' }, 'status'],
      [{ id: 'v', status: 'Verified' }, 'status'],
      [{ id: 'v', status: true }, 'status'],
    ],
  ],
  [
    ['balance.get'],
    { balance: 0 },
    [
      [{}, 'balance'],
      [{ balance: null }, 'balance'],
      [{ balance: '990' }, 'balance'],
      ['{"balance":-1e999}', 'balance'],
    ],
  ],
  [
    ['pricing.get'],
    pricing,
    [
      [{}, 'sms.credits_per_part'],
      [{ ...pricing, sms: { credits_per_part: 10 } }, 'sms.rate_multiplier'],
      ['{"sms":{"credits_per_part":1e999}}', 'sms.credits_per_part'],
      [{ ...pricing, email: [] }, 'email.credits_per_message'],
    ],
  ],
  [
    ['batches.messages'],
    { data: [message], next: null },
    [
      [{}, 'data'],
      [{ data: {}, next: null }, 'data'],
      [{ data: [null], next: null }, 'data'],
      [{ data: [{}], next: null }, 'data'],
      // A reader of all pages would begin again.
      [{ data: [message] }, 'next'],
      [{ data: [], next: '' }, 'next'],
    ],
  ],
];

describe('an answer that proves nothing', () => {
  for (const [names, proof, without] of rows) {
    for (const name of names) {
      it.each(without)(`is unexpected_response to ${name}: %j lacks %s`, async (answer, field) => {
        const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
        const fetch = answering(text, { 'X-Request-Id': 'r-1' });
        const error = await failureOf(methods[name](clientWith({ fetch })));
        expect(error).toMatchObject({
          code: 'unexpected_response',
          status: 200,
          requestId: 'r-1',
          attempts: 1,
        });
        expect(error.message).toContain(`(${field} is missing or malformed)`);
        const isRead = name.endsWith('.get') || name === 'batches.messages';
        expect(error.inDoubt).toBe(!isRead);
      });

      it(`is not one with all of them, whatever else it has: ${name}`, async () => {
        const answer = { ...proof, of_tomorrow: { a: [1] } };
        expect(await methods[name](clientWith({ fetch: answering(JSON.stringify(answer)) }))).toEqual(answer);
      });
    }
  }

  it('may lack a recipient when it is the old answer to an old key', async () => {
    const answer = { ...message, to: '' };
    const replay = answering(JSON.stringify(answer), { 'Idempotency-Replayed': 'true' });
    expect(await clientWith({ fetch: replay }).sms.send(sms)).toEqual(answer);
    const other = answering(JSON.stringify({ ...answer, to: null }), { 'Idempotency-Replayed': 'true' });
    expect((await failureOf(clientWith({ fetch: other }).sms.send(sms))).code).toBe('unexpected_response');
    const unsure = answering(JSON.stringify(answer), { 'Idempotency-Replayed': 'false' });
    expect((await failureOf(clientWith({ fetch: unsure }).sms.send(sms))).code).toBe('unexpected_response');
  });

  it('is not one when an id only differs in its case', async () => {
    const fetch = answering('{"id":"0a-BC","status":"verified"}');
    expect(await clientWith({ fetch }).verify.check('0A-bc', { code: '1' })).toMatchObject({
      status: 'verified',
    });
  });
});
