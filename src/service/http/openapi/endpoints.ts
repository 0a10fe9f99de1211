import type * as z from 'zod/mini';
import type { ServiceErrorCode } from '../../../contract/index.js';
import {
  batchesQuery,
  eventsQuery,
  inboxQuery,
  messagesQuery,
  outboxQuery,
  pageQuery,
} from '../schemas/lists.js';

/** An endpoint of the document; `body` and `answer` name schemas. */
export interface Endpoint {
  method: 'get' | 'post';
  path: string;
  id: string;
  summary: string;
  body?: string;
  status: number;
  answer: string;
  /** Its own error codes, in addition to those of every endpoint with its method. */
  codes: ServiceErrorCode[];
  /** Whether it accepts `Idempotency-Key`. */
  idempotent?: true;
  /** The schema of its query. */
  query?: z.ZodMiniType;
  /** Not in the interface document: other services may not have it. */
  extension?: true;
  /** Needs no key and no token of the request rate. */
  public?: true;
}

const send = ['insufficient_credits'] as const satisfies ServiceErrorCode[];
const single = [
  'message_too_long',
  'recipient_suppressed',
  'recipient_rate_limited',
  ...send,
] as const satisfies ServiceErrorCode[];

const post = (path: string, rest: Omit<Endpoint, 'method' | 'path'>): Endpoint => ({
  method: 'post',
  path: `/v1${path}`,
  ...rest,
});
const get = (
  path: string,
  id: string,
  summary: string,
  answer: string,
  rest: Partial<Endpoint> = {},
): Endpoint => ({
  method: 'get',
  path: `/v1${path}`,
  id,
  summary,
  answer,
  status: 200,
  codes: path.includes('{id}') ? ['not_found'] : [],
  ...rest,
});

const list = (query: z.ZodMiniType) =>
  ({ query, extension: true, codes: ['invalid_request'] }) satisfies Partial<Endpoint>;

const health = (path: string, id: string, summary: string, answer: string, codes: ServiceErrorCode[]) =>
  ({
    method: 'get',
    path,
    id,
    summary,
    status: 200,
    answer,
    codes,
    extension: true,
    public: true,
  }) satisfies Endpoint;

export const endpoints: Endpoint[] = [
  health('/healthz', 'getHealth', 'Whether the process answers', 'Health', []),
  health('/readyz', 'getReadiness', 'Whether the instance can serve requests', 'Readiness', ['unavailable']),
  post('/sms', {
    id: 'sendSms',
    summary: 'Send one SMS',
    body: 'SmsSend',
    status: 200,
    answer: 'SmsResult',
    codes: ['unsupported_number', 'provider_failed', ...single],
    idempotent: true,
  }),
  post('/sms/bulk', {
    id: 'sendSmsBulk',
    summary: 'Send one SMS to many numbers',
    body: 'SmsBulk',
    status: 202,
    answer: 'BatchResult',
    codes: ['message_too_long', ...send],
    idempotent: true,
  }),
  post('/email', {
    id: 'sendEmail',
    summary: 'Send one email',
    body: 'EmailSend',
    status: 202,
    answer: 'EmailResult',
    codes: [...single],
    idempotent: true,
  }),
  post('/email/bulk', {
    id: 'sendEmailBulk',
    summary: 'Send one email to many addresses',
    body: 'EmailBulk',
    status: 202,
    answer: 'BatchResult',
    codes: ['message_too_long', ...send],
    idempotent: true,
  }),
  post('/verify', {
    id: 'createVerification',
    summary: 'Send a verification code',
    body: 'VerifyCreate',
    status: 201,
    answer: 'VerificationResult',
    codes: ['unsupported_number', 'provider_failed', ...single],
  }),
  post('/verify/{id}/check', {
    id: 'checkVerification',
    summary: 'Check a verification code',
    body: 'VerifyCheck',
    status: 200,
    answer: 'Verification',
    codes: ['not_found', 'invalid_code', 'verification_closed'],
  }),
  get('/verify/{id}', 'getVerification', 'Read a verification', 'Verification'),
  get('/messages', 'listMessages', 'List messages, newest first', 'MessagePage', list(messagesQuery)),
  get('/messages/{id}', 'getMessage', 'Read a message', 'Message'),
  get('/batches', 'listBatches', 'List batches, newest first', 'BatchPage', list(batchesQuery)),
  get('/batches/{id}', 'getBatch', 'Read the progress of a batch', 'Batch'),
  get(
    '/batches/{id}/messages',
    'listBatchMessages',
    'List the messages of a batch, oldest first',
    'MessagePage',
    { ...list(pageQuery), codes: ['not_found', 'invalid_request'] },
  ),
  get('/balance', 'getBalance', 'Read the credit balance', 'Balance'),
  get('/pricing', 'getPricing', 'Read the prices', 'Pricing'),
  post('/suppressions/check', {
    id: 'checkSuppressions',
    summary: 'Check which recipients of a list are suppressed',
    body: 'SuppressionsCheck',
    status: 200,
    answer: 'SuppressionsCheckResult',
    codes: [],
    extension: true,
  }),
  get(
    '/inbox',
    'listInbox',
    'List received messages, newest first; subjects and texts only with a key of the scope `inbox`',
    'InboxPage',
    list(inboxQuery),
  ),
  get(
    '/events',
    'listEvents',
    'List the events of the project, oldest first: in order, each at least once. Recording begins with the first call',
    'EventPage',
    { ...list(eventsQuery), codes: ['invalid_request', 'cursor_expired'] },
  ),
  get(
    '/outbox',
    'listOutbox',
    'List the messages that the simulated operator delivered, with texts and codes: the newest, or those after a given one, oldest first',
    'DeliveryPage',
    { ...list(outboxQuery), codes: ['not_found', 'invalid_request'] },
  ),
];
