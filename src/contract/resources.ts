export type Channel = 'sms' | 'email';
export type MessageStatus = 'queued' | 'sent' | 'failed';
export type BatchStatus = 'processing' | 'completed';
export type VerificationStatus = 'pending' | 'verified' | 'failed' | 'expired';

/** Why a message failed. */
export interface MessageError {
  code: string;
  message: string;
}

interface MessageFields {
  /** UUID. */
  id: string;
  status: MessageStatus;
  /** The recipient, in its normal form. */
  to: string;
  /** What the message cost; 0 once refunded. */
  credits: number;
  /** The batch it belongs to; null for a single send. */
  batch_id: string | null;
  error: MessageError | null;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  sent_at: string | null;
}

export interface SmsMessage extends MessageFields {
  channel: 'sms';
  parts: number;
  /** Holiday multiplier that was applied to the price. */
  rate_multiplier: number;
}

export interface EmailMessage extends MessageFields {
  channel: 'email';
}

export type Message = SmsMessage | EmailMessage;

export interface Batch {
  /** UUID. */
  id: string;
  status: BatchStatus;
  channel: Channel;
  /** Recipients after duplicates were merged. */
  total: number;
  sent: number;
  failed: number;
  /** Charged up front for the whole batch; refunds do not change it. */
  credits: number;
  created_at: string;
  completed_at: string | null;
}

export interface Verification {
  /** UUID. */
  id: string;
  status: VerificationStatus;
  channel: Channel;
  to: string;
  attempts_remaining: number;
  credits: number;
  created_at: string;
  expires_at: string;
  verified_at: string | null;
}

/** The result of a send also says how many credits are left. */
export interface WithBalance {
  balance: number;
}
export type SmsResult = SmsMessage & WithBalance;
export type EmailResult = EmailMessage & WithBalance;
export type BatchResult = Batch & WithBalance;
export type VerificationResult = Verification & WithBalance;

export interface Balance {
  balance: number;
}

export interface Pricing {
  sms: {
    credits_per_part: number;
    rate_multiplier: number;
    latin_characters_per_part: number;
    cyrillic_characters_per_part: number;
    max_parts: number;
  };
  email: { credits_per_message: number };
}

/** One page of a batch's messages, oldest first; `next` is what to pass as `after`. */
export interface MessagePage {
  data: Message[];
  next: string | null;
}

export interface SmsSendParams {
  to: string;
  text: string;
}
export interface SmsBulkParams {
  to: string[];
  text: string;
}

type EmailContent = {
  /** Up to 255 characters, one line. */
  subject: string;
  from_name?: string;
  reply_to?: string;
} & ({ html: string; text?: string } | { html?: string; text: string });
export type EmailSendParams = { to: string } & EmailContent;
export type EmailBulkParams = { to: string[] } & EmailContent;

export interface VerifyCreateParams {
  to: string;
  /** Read from the form of `to` when absent. */
  channel?: Channel;
  /** 4 to 8 digits; 6 when absent. */
  code_length?: number;
  /** 60 to 3,600 seconds; 600 when absent. */
  expires_in?: number;
  /** A text with `{code}` and, if wanted, `{brand}`. */
  text?: string;
}
export interface VerifyCheckParams {
  code: string;
}
