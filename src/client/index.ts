export type {
  Balance,
  Batch,
  BatchResult,
  BatchStatus,
  Channel,
  EmailBulkParams,
  EmailMessage,
  EmailResult,
  EmailSendParams,
  Message,
  MessageError,
  MessagePage,
  MessageStatus,
  Pricing,
  SmsBulkParams,
  SmsMessage,
  SmsResult,
  SmsSendParams,
  Verification,
  VerificationResult,
  VerificationStatus,
  VerifyCheckParams,
  VerifyCreateParams,
} from '../contract/index.js';
export { UrtuuError, type UrtuuErrorCode } from './error.js';
export type {
  FetchBody,
  FetchBodyReader,
  FetchLike,
  FetchRequest,
  FetchResponse,
  SendOptions,
  UrtuuOptions,
} from './options.js';
export type { PageOptions } from './resources/batches.js';
export { Urtuu } from './urtuu.js';
