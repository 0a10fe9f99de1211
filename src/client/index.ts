export type {
  Balance,
  Batch,
  BatchFilter,
  BatchPage,
  BatchResult,
  BatchStatus,
  Channel,
  DeliveryState,
  EmailBulkParams,
  EmailMessage,
  EmailResult,
  EmailSendParams,
  EventPage,
  EventQuery,
  EventType,
  InboxFilter,
  InboxMessage,
  Message,
  MessageError,
  MessageFilter,
  MessagePage,
  MessageStatus,
  Page,
  PageOptions,
  Pricing,
  ReceivedMessage,
  SmsBulkParams,
  SmsMessage,
  SmsResult,
  SmsSendParams,
  SuppressedRecipient,
  SuppressionReason,
  SuppressionsCheck,
  SuppressionsCheckParams,
  UrtuuEvent,
  Verification,
  VerificationResult,
  VerificationStatus,
  VerifyCheckParams,
  VerifyCreateParams,
} from '../contract/index.js';
export type { CallOptions, SendOptions, WaitOptions } from './call-options.js';
export { UrtuuError, type UrtuuErrorCode, type UrtuuErrorParts } from './error.js';
export type { List } from './list.js';
export type { UrtuuOptions } from './options.js';
export type {
  FetchBody,
  FetchBodyReader,
  FetchBodyStream,
  FetchChunk,
  FetchLike,
  FetchRequest,
  FetchResponse,
} from './transport/fetch.js';
export type { RateLimit } from './transport/rate-limit.js';
export type { ResponseEvent, ResponseHook } from './transport/response-hook.js';
export type { AppInfo } from './transport/user-agent.js';
export { Urtuu } from './urtuu.js';
