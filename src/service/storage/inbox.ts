import type { Channel } from '../../contract/index.js';
import type { InboxQuery, Listed, PageRequest } from './lists.js';
import type { Instant } from './records.js';

/** An incoming message, for the inbox of a project. */
export interface IncomingMessage {
  id: string;
  projectId: string;
  channel: Channel;
  /** A number in normal form, a sender's name or an address. */
  from: string;
  to: string;
  /** Of an email. */
  subject: string | null;
  /** Without U+0000. */
  text: string;
  /** The same if the message is delivered again, so that it is stored once; null if that cannot be recognised. */
  fingerprint: string | null;
  /** Set for a part of a longer text; `number` from 1 on, the same `reference` in every part. */
  part: { reference: string; number: number; total: number } | null;
}

/** A part of a longer text; null for a text in one part, and for invalid numbers. */
export function partOf(reference: string, total: number, number: number): IncomingMessage['part'] {
  const isPart = Number.isInteger(total) && Number.isInteger(number) && total >= 2 && total <= 255;
  return isPart && number >= 1 && number <= total ? { reference, number, total } : null;
}

export interface InboxRecord extends Omit<IncomingMessage, 'text' | 'fingerprint' | 'part'> {
  /** With `missingPart` in place of each missing part. */
  text: string;
  receivedAt: Instant;
  /** A part is missing and may still come. */
  waitsForParts: boolean;
}

export const missingPart = '[…]';

/**
 * Milliseconds from the first part within which parts with the same reference belong together. Phones count
 * references to 255: a later part with the same one probably belongs to another text.
 */
export const partsWithin = 1_800_000;

/** Milliseconds for which a reply to a route is one to everybody who sent over it. */
const days = 86_400_000;
export const answeredWithin = 30 * days;

/** Incoming messages. */
export interface Inbox {
  /**
   * Stores a message, or adds a part to earlier ones. Committed when it resolves, to the whole text; to null while parts
   * are missing.
   */
  keepIncoming(message: IncomingMessage): Promise<string | null>;
  /** The projects that sent something to a number over a route within `answeredWithin`. */
  listSendersTo(to: string, route: string): Promise<string[]>;
  /**
   * Newest first by the first part, starting after `after`; null if `after` does not exist. A page of long texts ends
   * early.
   */
  listInbox(projectId: string, query: InboxQuery, page: PageRequest): Promise<Listed<InboxRecord> | null>;
  getIncoming(projectId: string, id: string): Promise<InboxRecord | null>;
}

/** Databases cannot store U+0000 or an unpaired surrogate. */
export const storable = (text: string): string => Buffer.from(text.replaceAll('\0', '')).toString();

/** The parts of one text. */
export const seriesOf = ({ from, to, part }: IncomingMessage): string | null =>
  part === null ? null : [part.reference, part.total, from, to].join(' ');
