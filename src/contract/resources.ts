export type Channel = 'sms' | 'email';
export type MessageStatus = 'queued' | 'sent' | 'failed';
export type BatchStatus = 'processing' | 'completed';
/** The carrier's report after it took a message. `unknown`: it may have taken it, and can never tell. */
export type DeliveryState = 'delivered' | 'undelivered' | 'bounced' | 'unknown';
export type VerificationStatus = 'pending' | 'verified' | 'failed' | 'expired';

/** Reason of a failed message. */
export interface MessageError {
  code: string;
  message: string;
}

interface MessageFields {
  /** UUID. */
  id: string;
  /** `sent`: the carrier has accepted it. */
  status: MessageStatus;
  /** The recipient, in its normal form. */
  to: string;
  /** Cost in credits; 0 once refunded. */
  credits: number;
  /** UUID; null for a single send. */
  batch_id: string | null;
  /** Null unless `failed`. */
  error: MessageError | null;
  /** An extension, in reads only: null while there is no report. */
  delivery?: DeliveryState | null;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** Like `created_at`; null until `sent`. */
  sent_at: string | null;
}

export interface SmsMessage extends MessageFields {
  channel: 'sms';
  /** 1 to 5. */
  parts: number;
  /** Holiday multiplier of the price. */
  rate_multiplier: number;
}

export interface EmailMessage extends MessageFields {
  channel: 'email';
}

export type Message = SmsMessage | EmailMessage;

export interface Batch {
  /** UUID. */
  id: string;
  /** `completed` when `sent + failed = total`. */
  status: BatchStatus;
  channel: Channel;
  /** Recipients without duplicates. */
  total: number;
  sent: number;
  failed: number;
  /** Credits charged up front for the whole batch; refunds do not change it. */
  credits: number;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** Like `created_at`; null until `completed`. */
  completed_at: string | null;
}

export interface Verification {
  /** UUID. */
  id: string;
  status: VerificationStatus;
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

export interface WithBalance {
  /** Credits left after the send. */
  balance: number;
}
export type SmsResult = SmsMessage & WithBalance;
export type EmailResult = EmailMessage & WithBalance;
export type BatchResult = Batch & WithBalance;
export type VerificationResult = Verification & WithBalance;

export interface Balance {
  /** Credits. */
  balance: number;
}

export interface Pricing {
  sms: {
    credits_per_part: number;
    /** Holiday multiplier of today. */
    rate_multiplier: number;
    latin_characters_per_part: number;
    cyrillic_characters_per_part: number;
    max_parts: number;
  };
  email: { credits_per_message: number };
}

export interface SmsSendParams {
  /** A mobile number: 8 digits, optionally after +976, with spaces or dashes. */
  to: string;
  /** Up to 5 parts: of 150 Latin or 60 Cyrillic characters each. */
  text: string;
}
export interface SmsBulkParams {
  /** 1 to 1,000 numbers. */
  to: string[];
  text: string;
}

type EmailContent = {
  /** Up to 255 characters, one line. */
  subject: string;
  /** Sender name; defaults to the project's brand name, or its name. */
  from_name?: string | undefined;
  /** Email address; defaults to the project's setting. */
  reply_to?: string | undefined;
} & ({ html: string; text?: string | undefined } | { html?: string | undefined; text: string });
/** `html` and `text` take up to 256 KB together. */
export type EmailSendParams = { to: string } & EmailContent;
/** `to`: 1 to 1,000 addresses. `html` and `text` take up to 256 KB together. */
export type EmailBulkParams = { to: string[] } & EmailContent;

export interface VerifyCreateParams {
  /** A mobile number or an email address. */
  to: string;
  /** Defaults to the form of `to`. */
  channel?: Channel | undefined;
  /** Digits, 4 to 8. Default 6. */
  code_length?: number | undefined;
  /** Seconds, 60 to 3,600. Default 600. */
  expires_in?: number | undefined;
  /** Template of the message; needs `{code}`, may have `{brand}`. */
  text?: string | undefined;
}
export interface VerifyCheckParams {
  code: string;
}
