import * as z from 'zod/mini';
import {
  bulkClass,
  classHeader,
  eventTypes,
  longestEventWait,
  maxIdempotencyKeyLength,
  maxSenderNameLength,
  maxSubjectLength,
  messagePage,
  type ServiceErrorCode,
  serviceErrors,
} from '../../../contract/index.js';
import { emailBulk, emailSend, fromName, subject } from '../schemas/email.js';
import { recipient, suppressionsCheck } from '../schemas/fields.js';
import { after, afterEvent, delivered, limit, types, wait } from '../schemas/lists.js';
import { smsBulk, smsSend } from '../schemas/sms.js';
import { verifyCheck, verifyCreate } from '../schemas/verify.js';
import { type Endpoint, endpoints } from './endpoints.js';
import * as resources from './resources.js';

const isExtension = {
  description: 'An extension of the interface: other services may lack it.',
  'x-extension': true,
};

// Rules that the operations check, as JSON Schema.
const hasContent = { anyOf: [{ required: ['html'] }, { required: ['text'] }] };
const rules = new Map<object, object>([
  [subject, { maxLength: maxSubjectLength }],
  [fromName, { maxLength: maxSenderNameLength }],
  [recipient, { type: 'string' }],
  [emailSend, hasContent],
  [emailBulk, hasContent],
  [
    limit,
    { type: 'integer', minimum: messagePage.min, maximum: messagePage.max, default: messagePage.default },
  ],
  ...resources.extensions.map((field) => [field, isExtension] as const),
  [afterEvent, { description: '`next` of the previous page, or the id of an event; `now` skips all so far' }],
  [types, { type: 'array', items: { type: 'string', enum: eventTypes } }],
  [
    wait,
    {
      type: 'integer',
      minimum: 0,
      maximum: longestEventWait,
      default: 0,
      description: 'Seconds to wait for an event if there is none',
    },
  ],
  [after, { format: 'uuid', description: '`next` of the previous page' }],
  [
    delivered,
    { format: 'uuid', description: 'The `message_id` of a delivery: shows what was delivered after it' },
  ],
]);

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;
const withRules: Override = ({ zodSchema, jsonSchema }) => {
  Object.assign(jsonSchema, rules.get(zodSchema));
  // The format and the type already say so.
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

function componentSchemas(): Record<string, unknown> {
  const named = z.registry<{ id: string }>();
  const schemas: Record<string, z.ZodMiniType> = {
    SmsSend: smsSend,
    SmsBulk: smsBulk,
    EmailSend: emailSend,
    EmailBulk: emailBulk,
    VerifyCreate: verifyCreate,
    VerifyCheck: verifyCheck,
    SmsResult: resources.smsResult,
    EmailResult: resources.emailResult,
    Message: resources.anyMessage,
    MessagePage: resources.messagePage,
    Batch: resources.batch,
    BatchPage: resources.batchPage,
    BatchResult: resources.batchResult,
    InboxPage: resources.inboxPage,
    DeliveryPage: resources.deliveryPage,
    Verification: resources.verification,
    VerificationResult: resources.verificationResult,
    Balance: resources.balanceResult,
    Pricing: resources.pricing,
    EventPage: resources.eventPage,
    SuppressionsCheck: suppressionsCheck,
    SuppressionsCheckResult: resources.suppressionsCheckResult,
    Health: resources.health,
    Readiness: resources.readiness,
    Error: resources.errorEnvelope,
  };
  for (const [id, schema] of Object.entries(schemas)) named.add(schema, { id });
  const generated = z.toJSONSchema(named, {
    io: 'input',
    uri: (id) => `#/components/schemas/${id}`,
    override: withRules,
  });
  return Object.fromEntries(
    Object.entries(generated.schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]),
  );
}

const wholeNumber = { type: 'integer', minimum: 0 };
const commonHeaders = {
  'X-Request-Id': { description: 'Id of this request', schema: { type: 'string', format: 'uuid' } },
  'X-RateLimit-Limit': {
    description: 'Burst of the rate limit for this kind of request',
    schema: wholeNumber,
  },
  'X-RateLimit-Remaining': { description: 'Requests available now', schema: wholeNumber },
};
const retryAfter = {
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } },
};
const replayed = {
  'Idempotency-Replayed': {
    description: 'Set on the answer of an earlier request with the same key',
    schema: { const: 'true' },
  },
};

const sharedCodes: ServiceErrorCode[] = ['unauthorized', 'forbidden', 'rate_limited', 'unavailable'];
const bodyCodes: ServiceErrorCode[] = ['invalid_request', 'request_too_large', 'unsupported_media_type'];

const reference = (schema: string) => ({ $ref: `#/components/schemas/${schema}` });
const json = (schema: object) => ({ 'application/json': { schema } });

function responsesOf(endpoint: Endpoint): Record<string, unknown> {
  const shared = endpoint.public ? [] : sharedCodes;
  const codes = new Set([...shared, ...(endpoint.body ? bodyCodes : []), ...endpoint.codes]);
  const statuses = new Set([...codes].map((code) => serviceErrors[code].status));
  const errors = [...statuses].sort().map((status) => {
    const ofStatus = [...codes].filter((code) => serviceErrors[code].status === status);
    const error = { properties: { error: { properties: { code: { enum: ofStatus } } } } };
    return [
      String(status),
      {
        description: ofStatus.map((code) => `${code}: ${serviceErrors[code].meaning}`).join('; '),
        headers: {
          ...commonHeaders,
          ...(status === 429 || status === 503 ? retryAfter : {}),
          ...(status === 502 && endpoint.idempotent ? replayed : {}),
        },
        content: json({ allOf: [reference('Error'), error] }),
      },
    ];
  });
  const success = {
    description: endpoint.summary,
    headers: { ...commonHeaders, ...(endpoint.idempotent ? replayed : {}) },
    content: json(reference(endpoint.answer)),
  };
  return { [endpoint.status]: success, ...Object.fromEntries(errors) };
}

function parametersOf({ path, idempotent, query }: Endpoint): object[] {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } };
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A repeat with the same key sends nothing and gets the first answer, byte for byte until its recipient is ' +
      'erased. Read the message for its status since then',
    schema: { type: 'string', pattern: '^[\\x20-\\x7e]*$', minLength: 1, maxLength: maxIdempotencyKeyLength },
  };
  const list = {
    name: classHeader,
    in: 'header',
    description:
      'A message of a list: an email has the unsubscribe header of the project, obeys opt-outs and waits in quiet ' +
      'hours, as in a batch; an SMS is 429 `rate_limited` in them',
    schema: { type: 'string', enum: [bulkClass] },
  };
  return [
    ...(path.includes('{id}') ? [id] : []),
    ...(idempotent ? [key, list] : []),
    ...(query === undefined ? [] : queryParameters(query)),
  ];
}

function queryParameters(query: z.ZodMiniType): object[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input', override: withRules });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as { description?: string; type?: string };
    // `?types=one,other`: not a parameter for each.
    const form = schema.type === 'array' ? { explode: false } : {};
    return { name, in: 'query', ...(description === undefined ? {} : { description }), ...form, schema };
  });
}

/** The OpenAPI 3.1 description of the service, made from the schemas that validate requests. */
export function openApiDocument(): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const { method, path, id, summary, body } = endpoint;
    paths[path] ??= {};
    paths[path][method] = {
      operationId: id,
      summary,
      ...(endpoint.extension ? isExtension : {}),
      ...(endpoint.public ? { security: [] } : {}),
      parameters: parametersOf(endpoint),
      ...(body ? { requestBody: { required: true, content: json(reference(body)) } } : {}),
      responses: responsesOf(endpoint),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'urtuu',
      version: '1',
      description: 'Send SMS and email.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the document: a key goes to the service that it comes from.
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key of the project' } },
      schemas: componentSchemas(),
    },
  };
}
