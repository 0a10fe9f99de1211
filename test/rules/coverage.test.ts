import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serviceErrors } from '../../src/contract/index.js';

/** The rules of the interface document that concern the service, by section and number. */
const numbered = (section: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${section} ${index + 1}`);
const rules = [
  'Resources single-send result (SMS)',
  'Resources single-send result (email)',
  'Resources batch result',
  'States SMS sent',
  'States SMS not accepted',
  'States email queued',
  'States email sent',
  'States email failed',
  'States batch processing',
  'States batch message over a cap',
  'States batch message not sent',
  'POST /v1/email subject',
  ...numbered('POST /v1/email', 5),
  'POST /v1/email/bulk',
  'POST /v1/sms to',
  ...numbered('POST /v1/sms', 9),
  ...numbered('POST /v1/sms/bulk', 3),
  'GET /v1/messages',
  'GET /v1/messages/{id}',
  'GET /v1/batches',
  'GET /v1/batches/{id}',
  'GET /v1/batches/{id}/messages',
  'GET /v1/balance',
  'GET /v1/pricing',
  'POST /v1/verify',
  'POST /v1/verify/{id}/check',
  'GET /v1/verify/{id}',
  ...numbered('Authentication', 4),
  ...Object.keys(serviceErrors).map((code) => `Errors ${code}`),
  'Errors envelope',
  'Limits request rate',
  'Limits recipient caps',
  'Limits sizes',
  ...numbered('Idempotency', 4),
  'Order of checks',
];

const folder = import.meta.dirname;
const titles = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('coverage'))
  .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/'((?:\[[^\]\n]+\] )+)[^\n]*'/g)])
  .map(([, references = '']) => references);
const named = new Set(
  titles.flatMap((title) => [...title.matchAll(/\[([^\]]+)\]/g)].map(([, name]) => name)),
);

describe('the rules of the interface', () => {
  it.each(rules)('%s is named by a test', (rule) => expect(named).toContain(rule));

  it('are all that tests name', () => {
    expect([...named].filter((name) => !rules.includes(name ?? ''))).toEqual([]);
  });
});
