import { describe, expect, it } from 'vitest';
import { serviceErrors } from '../../../src/contract/index.js';
import { createApp } from '../../../src/service/http/app.js';
import { endpoints } from '../../../src/service/http/openapi/endpoints.js';
import * as resources from '../../../src/service/http/openapi/resources.js';
import {
  batch,
  email,
  fakeOperations,
  goodKey,
  ids,
  openApp,
  request,
  sms,
  verification,
} from './fake-operations.js';

const { operations: fake } = fakeOperations();
const app = openApp(fake);
interface Operation {
  responses: Record<string, { headers: object; content: { 'application/json': { schema: object } } }>;
  parameters: { name: string; in: string }[];
}
interface Document {
  servers: { url: string }[];
  openapi: string;
  security: object[];
  paths: Record<string, Record<string, Operation>>;
  // biome-ignore lint/suspicious/noExplicitAny: JSON Schemas, looked into by the tests only
  components: { schemas: Record<string, any>; securitySchemes: Record<string, object> };
}
const document = (await (await app.fetch(new Request('http://a/v1/openapi.json'))).json()) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);
const concrete = (path: string) =>
  path.replace(
    '{id}',
    path.includes('messages/{') ? ids.message : path.includes('batch') ? ids.batch : ids.verification,
  );

describe('/v1/openapi.json', () => {
  it('needs no key and is OpenAPI 3.1', () => expect(document.openapi).toBe('3.1.0'));

  it('names no server but the one that it comes from: a generated client would send its key there', () => {
    expect(document.servers).toEqual([{ url: '/' }]);
    expect(JSON.stringify(document)).not.toMatch(/https?:\/\/(?:127|localhost)/);
  });

  it('holds every route and no other', () => {
    const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    const routes = createApp(fake).routes.map((route) => route.replace(':id', '{id}'));
    expect(described.sort()).toEqual(routes.filter((route) => route !== 'GET /v1/openapi.json').sort());
  });

  it.each(endpoints)('$method $path answers $status as it says', async ({ method, path, status, body }) => {
    const bodies: Record<string, object> = {
      SmsSend: { to: '1', text: 'x' },
      SmsBulk: { to: ['1'], text: 'x' },
      EmailSend: { to: '1', subject: 's', text: 'x' },
      EmailBulk: { to: ['1'], subject: 's', html: 'x' },
      VerifyCreate: { to: '1' },
      VerifyCheck: { code: '1' },
      SuppressionsCheck: { to: ['99112233'] },
    };
    const given = body === undefined ? {} : { body: bodies[body] };
    const response = await app.fetch(request(concrete(path), { method: method.toUpperCase(), ...given }));
    expect(response.status).toBe(status);
  });

  it('knows no reference that leads nowhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(30);
    for (const [, name = ''] of references) expect(document.components.schemas).toHaveProperty(name);
  });

  it('names every error code, and none under another status', () => {
    const named = new Set<string>();
    for (const { operation } of operations) {
      for (const [status, response] of Object.entries(operation.responses)) {
        const codes = /"enum":(\[[^\]]*\])/.exec(JSON.stringify(response.content))?.[1];
        for (const code of codes ? (JSON.parse(codes) as (keyof typeof serviceErrors)[]) : []) {
          expect([code, String(serviceErrors[code].status)]).toEqual([code, status]);
          named.add(code);
        }
      }
    }
    const elsewhere = ['method_not_allowed'];
    expect([...named, ...elsewhere].sort()).toEqual(Object.keys(serviceErrors).sort());
    expect(document.components.schemas.Error.properties.error.properties.code.enum).toEqual(
      Object.keys(serviceErrors),
    );
  });

  it('shows the headers of every answer and the key', () => {
    for (const { operation } of operations)
      for (const { headers } of Object.values(operation.responses))
        expect(Object.keys(headers)).toEqual(
          expect.arrayContaining(['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining']),
        );
    expect(document.security).toEqual([{ key: [] }]);
    expect(document.components.securitySchemes.key).toMatchObject({ type: 'http', scheme: 'bearer' });
    expect(JSON.stringify(document)).not.toContain(goodKey);
  });

  it('takes its limits from the schemas that validate', () => {
    const { SmsBulk, EmailSend, VerifyCreate } = document.components.schemas;
    expect(SmsBulk).toMatchObject({
      additionalProperties: false,
      required: ['to', 'text'],
      properties: { to: { minItems: 1, maxItems: 1_000, items: { type: 'string' } } },
    });
    expect(EmailSend.properties.subject.maxLength).toBe(255);
    expect(EmailSend.anyOf).toEqual([{ required: ['html'] }, { required: ['text'] }]);
    expect(VerifyCreate.properties.code_length).toMatchObject({ type: 'integer', minimum: 4, maximum: 8 });
  });

  it('marks the fields that are extensions, which no answer to POST has', () => {
    const { Batch, BatchResult, Message, SmsResult } = document.components.schemas;
    const extensions = (schema: { properties: Record<string, { 'x-extension'?: true }> }) =>
      Object.entries(schema.properties).flatMap(([name, field]) => (field['x-extension'] ? [name] : []));
    expect(extensions(Batch)).toEqual(['unknown', 'pruned_at']);
    expect(Message.anyOf.map(extensions)).toEqual(Array(2).fill(['delivery', 'carrier_code']));
    for (const name of ['unknown', 'pruned_at']) expect(BatchResult.properties).not.toHaveProperty(name);
    expect(SmsResult.properties).not.toHaveProperty('delivery');
  });

  it.each([
    ['SmsResult', resources.smsResult, sms],
    ['EmailResult', resources.emailResult, email],
    ['BatchResult', resources.batchResult, batch],
    ['Verification', resources.verification, verification],
  ])('%s is what is answered, field by field', (_name, schema, resource) => {
    expect(schema.parse(resource)).toEqual(resource);
  });
});
