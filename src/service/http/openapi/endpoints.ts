import type { ServiceErrorCode } from '../../../contract/index.js';

/** An endpoint of the document; `body` and `answer` name schemas. */
export interface Endpoint {
  method: 'get' | 'post';
  path: string;
  id: string;
  summary: string;
  body?: string;
  status: number;
  answer: string;
  /** Its own error codes, besides those of every endpoint with its method. */
  codes: ServiceErrorCode[];
  /** Whether it takes `Idempotency-Key`. */
  idempotent?: true;
  /** Whether it takes `limit` and `after`. */
  paged?: true;
}

const send = ['insufficient_credits'] as const satisfies ServiceErrorCode[];
const single = ['message_too_long', 'recipient_rate_limited', ...send] as const satisfies ServiceErrorCode[];

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

export const endpoints: Endpoint[] = [
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
  get('/messages/{id}', 'getMessage', 'Read a message', 'Message'),
  get('/batches/{id}', 'getBatch', 'Read the progress of a batch', 'Batch'),
  get(
    '/batches/{id}/messages',
    'listBatchMessages',
    'List the messages of a batch, oldest first',
    'MessagePage',
    {
      codes: ['not_found', 'invalid_request'],
      paged: true,
    },
  ),
  get('/balance', 'getBalance', 'Read the credit balance', 'Balance'),
  get('/pricing', 'getPricing', 'Read the prices', 'Pricing'),
];
