import type {
  InboxFilter,
  InboxMessage,
  Page,
  PageOptions,
  SuppressionReason,
} from '../../contract/index.js';

/** As its owner sees it. */
export type ReceivedMessage = Required<InboxMessage>;

/** A recipient to whom nothing more is sent. */
export interface Suppression {
  /** Normal form; `erased:` and an HMAC if the recipient was erased. */
  to: string;
  reason: SuppressionReason;
  created_at: string;
}

/** How many recipients were added, and how many were there already, repeats included. */
export interface AddedSuppressions {
  added: number;
  existing: number;
}

/** A DNS record to publish for a project's own domain. */
export interface DnsRecord {
  purpose: 'SPF' | 'DKIM' | 'DMARC';
  type: 'TXT';
  /** Without a trailing dot. */
  name: string;
  value: string;
}

/**
 * `bounced`: a message did; `complained`: its recipient complained; `kept`: it is in an inbox; `ignored`: another reply,
 * to a bounce address only.
 */
export type ReceivedAs = 'bounced' | 'complained' | 'kept' | 'ignored';

/** The owner's operations on the mail of a project. */
export interface MailAdministration {
  /** Incoming messages, newest first. */
  inbox(filter?: InboxFilter & PageOptions): Promise<Page<ReceivedMessage>>;
  suppressions: {
    /**
     * Adds recipients, `manual` if no reason is given: numbers and addresses; refused with `invalid_request` and its
     * `invalid` if one is neither. Who is there already keeps the reason.
     */
    add(recipients: readonly string[], reason?: SuppressionReason): Promise<AddedSuppressions>;
    /** Newest first; `after` is a recipient. */
    list(page?: PageOptions): Promise<Page<Suppression>>;
    /** False for a recipient that is not suppressed. */
    remove(recipient: string): Promise<boolean>;
  };
  /** The records for the own domain; empty without one. Refused if its key cannot be read. */
  dnsRecords(): Promise<DnsRecord[]>;
}
