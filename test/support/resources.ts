import type {
  Batch,
  BatchResult,
  EmailMessage,
  EmailResult,
  Pricing,
  SmsMessage,
  SmsResult,
  Verification,
  VerificationResult,
  WithBalance,
} from '../../src/contract/index.js';

/** The resources of the API as the service answers with them, with some fields of a test's own. */

const createdAt = '2026-11-21T00:00:00.000Z';
const sentAt = '2026-11-21T00:00:00.100Z';

export const smsResult = (fields: Partial<SmsResult> = {}): SmsResult => ({
  id: '0b6f2f6e-2c3d-4e5f-8a9b-0c1d2e3f4a5b',
  status: 'sent',
  channel: 'sms',
  to: '99112233',
  parts: 1,
  rate_multiplier: 1,
  credits: 10,
  batch_id: null,
  error: null,
  created_at: createdAt,
  sent_at: sentAt,
  balance: 990,
  ...fields,
});

export const emailResult = (fields: Partial<EmailResult> = {}): EmailResult => ({
  id: '1c7a3b8f-3d4e-4f60-9bac-1d2e3f4a5b6c',
  status: 'queued',
  channel: 'email',
  to: 'bat@example.mn',
  credits: 2,
  batch_id: null,
  error: null,
  created_at: createdAt,
  sent_at: null,
  balance: 998,
  ...fields,
});

export const batchResult = (fields: Partial<BatchResult> = {}): BatchResult => ({
  id: '2d8b4c90-4e5f-4071-8cbd-2e3f4a5b6c7d',
  status: 'processing',
  channel: 'sms',
  total: 2,
  sent: 0,
  failed: 0,
  credits: 20,
  created_at: createdAt,
  completed_at: null,
  balance: 980,
  ...fields,
});

export const verificationResult = (fields: Partial<VerificationResult> = {}): VerificationResult => ({
  id: '3e9c5da1-5f60-4182-9dce-3f4a5b6c7d8e',
  status: 'pending',
  channel: 'sms',
  to: '99112233',
  attempts_remaining: 5,
  credits: 10,
  created_at: createdAt,
  expires_at: '2026-11-21T00:10:00.000Z',
  verified_at: null,
  balance: 990,
  ...fields,
});

/** What a later read gives. */
const withoutBalance = <Result extends WithBalance>({ balance: _, ...resource }: Result) => resource;
export const smsMessage = (fields: Partial<SmsMessage> = {}): SmsMessage => withoutBalance(smsResult(fields));
export const emailMessage = (fields: Partial<EmailMessage> = {}): EmailMessage =>
  withoutBalance(emailResult(fields));
export const batch = (fields: Partial<Batch> = {}): Batch => withoutBalance(batchResult(fields));
export const verification = (fields: Partial<Verification> = {}): Verification =>
  withoutBalance(verificationResult(fields));

export const pricing: Pricing = {
  sms: {
    credits_per_part: 10,
    rate_multiplier: 1,
    latin_characters_per_part: 150,
    cyrillic_characters_per_part: 60,
    max_parts: 5,
  },
  email: { credits_per_message: 2 },
};

/** The body of an error answer. */
export const errorBody = (code: string, fields: object = {}) => ({
  error: { code, message: `about ${code}`, ...fields },
});
