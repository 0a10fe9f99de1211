/** How a message reaches its recipient. */
export type Channel = 'sms' | 'email';
/** `queued` until a carrier accepts the message (`sent`) or none will (`failed`, refunded) (States). */
export type MessageStatus = 'queued' | 'sent' | 'failed';
/** `processing` until every message is sent or failed (States). */
export type BatchStatus = 'processing' | 'completed';
/** The carrier's report on a message. `unknown`: it may have accepted the message. */
export type DeliveryState = 'delivered' | 'undelivered' | 'bounced' | 'unknown';
/** `failed`: out of attempts. */
export type VerificationStatus = 'pending' | 'verified' | 'failed' | 'expired';

export const suppressionReasons = ['opt_out', 'unknown_recipient', 'manual'] as const;
/**
 * Why a recipient is sent nothing more: it asked for that, it does not exist, or the owner of the project has said so.
 */
export type SuppressionReason = (typeof suppressionReasons)[number];

/** Why a message failed. */
export interface MessageError {
  /** An error code, such as `provider_failed`, `recipient_rate_limited` or `recipient_suppressed`. */
  code: string;
  /** English, for logs. */
  message: string;
}

/** Fields of every message. */
interface MessageFields {
  /** UUID. */
  id: string;
  /** `sent`: a carrier has accepted it. */
  status: MessageStatus;
  /** The recipient, in its normal form. */
  to: string;
  /** Cost in credits; 0 once refunded. */
  credits: number;
  /** UUID; null for a single send. */
  batch_id: string | null;
  /** Null unless `failed`. */
  error: MessageError | null;
  /** Null until there is a report. An extension, in reads only. */
  delivery?: DeliveryState | null;
  /** The carrier's own code of a failure, such as `550 5.1.1`; else null. An extension, in reads only. */
  carrier_code?: string | null;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** Like `created_at`; null until `sent`. */
  sent_at: string | null;
}

/** An SMS (Single-send result (SMS)). */
export interface SmsMessage extends MessageFields {
  /** Distinguishes an SMS from an email. */
  channel: 'sms';
  /** 1 to 5. */
  parts: number;
  /** Holiday multiplier of the price. */
  rate_multiplier: number;
}

/** An email (Single-send result (email)). */
export interface EmailMessage extends MessageFields {
  /** Distinguishes an email from an SMS. */
  channel: 'email';
}

/** A message (GET /v1/messages/{id}), of the kind in `channel`. */
export type Message = SmsMessage | EmailMessage;

/** A bulk send and its progress (GET /v1/batches/{id}). */
export interface Batch {
  /** UUID. */
  id: string;
  /** `completed` when `sent + failed = total`. */
  status: BatchStatus;
  /** The channel of its messages. */
  channel: Channel;
  /** Recipients without duplicates. */
  total: number;
  /** Messages `sent` so far. */
  sent: number;
  /** Messages `failed` so far. */
  failed: number;
  /**
   * How many of `sent` currently have the `delivery` `unknown`: they may have arrived. A late receipt changes it. An
   * extension, in reads and lists only; absent if the service does not count them.
   */
  unknown?: number;
  /** Credits charged for the whole batch in advance; refunds do not change it. */
  credits: number;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** Like `created_at`; null until `completed`. */
  completed_at: string | null;
  /** Like `created_at`: when its recipients and texts were erased. An extension; only in reads of an erased batch. */
  pruned_at?: string;
}

/** A verification (GET /v1/verify/{id}), without its code. */
export interface Verification {
  /** UUID. */
  id: string;
  /** `pending` until the right code is checked, no attempts are left, or it expires. */
  status: VerificationStatus;
  /** The channel of the message with the code. */
  channel: Channel;
  /** The recipient, in its normal form. */
  to: string;
  /** 5 to 0; at 0 the verification is `failed`. */
  attempts_remaining: number;
  /** Cost of the message in credits. */
  credits: number;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** Like `created_at`. */
  expires_at: string;
  /** Like `created_at`; null until `verified`. */
  verified_at: string | null;
}

/** Part of the answer to every send. */
export interface WithBalance {
  /** Credits left after the send. */
  balance: number;
}
/** The answer to POST /v1/sms. */
export type SmsResult = SmsMessage & WithBalance;
/** The answer to POST /v1/email. */
export type EmailResult = EmailMessage & WithBalance;
/** The answer to POST /v1/sms/bulk and POST /v1/email/bulk. */
export type BatchResult = Batch & WithBalance;
/** The answer to POST /v1/verify. */
export type VerificationResult = Verification & WithBalance;

/** The credits of the project (GET /v1/balance). */
export interface Balance {
  /** Credits. */
  balance: number;
}

/** The prices of the project (GET /v1/pricing). */
export interface Pricing {
  /** An SMS costs parts x `credits_per_part` x `rate_multiplier`, rounded up. */
  sms: {
    /** Credits. */
    credits_per_part: number;
    /** Today's holiday multiplier. */
    rate_multiplier: number;
    /** 150. */
    latin_characters_per_part: number;
    /** 60. */
    cyrillic_characters_per_part: number;
    /** 5. */
    max_parts: number;
  };
  /** The price per recipient. */
  email: {
    /** Credits. */
    credits_per_message: number;
  };
}

/** A received SMS, or mail to the project's own domain (GET /v1/inbox, an extension). */
export interface InboxMessage {
  /** UUID. */
  id: string;
  /** How it came. */
  channel: Channel;
  /** A number, a sender's name or an address; empty if a mail has none. */
  from: string;
  /** The number or address that it was sent to. */
  to: string;
  /** Null for an SMS; absent without the scope `inbox`. */
  subject?: string | null;
  /** At most 1 MB; a missing part of an SMS is `[…]`. Absent without the scope `inbox`. */
  text?: string;
  /** ISO 8601, UTC, milliseconds. */
  received_at: string;
  /** A part of an SMS is missing, and may arrive within half an hour of the first. */
  waits_for_parts: boolean;
}

/** A recipient to whom nothing more is sent. */
export interface SuppressedRecipient {
  /** As it was written. */
  to: string;
  /** Why. */
  reason: SuppressionReason;
}
/** Those of a list to whom nothing more is sent (POST /v1/suppressions/check, an extension). */
export interface SuppressionsCheck {
  /** In the order of the list. */
  data: SuppressedRecipient[];
}
/** The body of POST /v1/suppressions/check. */
export interface SuppressionsCheckParams {
  /** 1 to 1,000 numbers and email addresses. */
  to: string[];
}

/** The body of POST /v1/sms. */
export interface SmsSendParams {
  /** A mobile number: 8 digits, optionally after +976, with spaces or dashes. */
  to: string;
  /** Up to 5 parts of 150 Latin or 60 Cyrillic characters each. */
  text: string;
}
/** The body of POST /v1/sms/bulk. */
export interface SmsBulkParams {
  /** 1 to 1,000 numbers. */
  to: string[];
  /** The same for every recipient; up to 5 parts of 150 Latin or 60 Cyrillic characters each. */
  text: string;
}

/** Fields of every email. */
interface EmailFields {
  /** Up to 255 characters, one line. */
  subject: string;
  /** Sender name; defaults to the project's brand name, or its name. */
  from_name?: string | undefined;
  /** Email address; defaults to the project's setting. */
  reply_to?: string | undefined;
}
/** An email with an HTML body. */
interface HtmlEmail extends EmailFields {
  /** HTML body; up to 256 KB together with `text`. */
  html: string;
  /** Plain-text body, for mail readers without HTML. */
  text?: string | undefined;
}
/** An email with a plain-text body. */
interface TextEmail extends EmailFields {
  /** HTML body, for mail readers with HTML. */
  html?: string | undefined;
  /** Plain-text body; up to 256 KB together with `html`. */
  text: string;
}
/** One of `html` and `text` is required. */
type EmailContent = HtmlEmail | TextEmail;
/** A single recipient. */
interface OneAddress {
  /** Email address. */
  to: string;
}
/** Recipients of a bulk send, who do not see each other. */
interface ManyAddresses {
  /** 1 to 1,000 email addresses. */
  to: string[];
}
/** The body of POST /v1/email; one of `html` and `text` is required. */
export type EmailSendParams = OneAddress & EmailContent;
/** The body of POST /v1/email/bulk; one of `html` and `text` is required. */
export type EmailBulkParams = ManyAddresses & EmailContent;

/** The body of POST /v1/verify. */
export interface VerifyCreateParams {
  /** A mobile number or an email address. */
  to: string;
  /** Default: an SMS to a number, an email to an address. */
  channel?: Channel | undefined;
  /** Digits, 4 to 8. Default 6. */
  code_length?: number | undefined;
  /** Seconds, 60 to 3,600. Default 600. */
  expires_in?: number | undefined;
  /** Template of the message; needs `{code}`, may have `{brand}`. */
  text?: string | undefined;
}
/** The body of POST /v1/verify/{id}/check. */
export interface VerifyCheckParams {
  /** The digits that the person typed. */
  code: string;
}
