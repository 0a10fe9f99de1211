import type { Channel, Page, PageOptions } from '../../contract/index.js';

/** A message from outside: mail to the own domain of a project, or an SMS to the number of a route. */
export interface InboxMessage {
  id: string;
  channel: Channel;
  /** A number, the name of a sender or an address; empty where the mail names none. */
  from: string;
  to: string;
  /** Null for an SMS. */
  subject: string | null;
  /** At most 1 MB; a part of an SMS that has not come is `[…]`. */
  text: string;
  received_at: string;
  /** Of an SMS: a part has not come, and may within a day of the first. */
  waits_for_parts: boolean;
}

/** A recipient that gets nothing more. */
export interface Suppression {
  /** Normal form; `erased:` and an HMAC where the recipient was erased. */
  to: string;
  /** As `it bounced with status 5.1.1`. */
  reason: string;
  created_at: string;
}

/** A record to publish for an own domain. */
export interface DnsRecord {
  purpose: 'SPF' | 'DKIM' | 'DMARC';
  type: 'TXT';
  /** Without a dot at its end. */
  name: string;
  value: string;
}

/** `bounced`: a message did; `kept`: it is in an inbox; `ignored`: another answer to an address for bounces. */
export type ReceivedAs = 'bounced' | 'kept' | 'ignored';

/** Owner's operations on the mail of a project. */
export interface MailAdministration {
  /** Messages from outside, newest first. */
  inbox(page?: PageOptions): Promise<Page<InboxMessage>>;
  suppressions: {
    /** Newest first; `after` is a recipient. */
    list(page?: PageOptions): Promise<Page<Suppression>>;
    /** False for a recipient that is not suppressed. */
    remove(recipient: string): Promise<boolean>;
  };
  /** The records of the own domain; empty without one. Refused where its key cannot be read. */
  dnsRecords(): Promise<DnsRecord[]>;
}
