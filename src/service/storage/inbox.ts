import type { Channel } from '../../contract/index.js';
import type { Listed, PageRequest } from './lists.js';
import type { Instant } from './records.js';

/** A message from outside, for the inbox of a project. */
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
  /** The same for a message that is given again, which is kept once; null where nothing tells. */
  fingerprint: string | null;
  /** Set for a part of a longer text; `number` from 1 on, the same `reference` in every part. */
  part: { reference: string; number: number; total: number } | null;
}

export interface InboxRecord extends Omit<IncomingMessage, 'text' | 'fingerprint' | 'part'> {
  /** With `missingPart` for each part that has not come. */
  text: string;
  receivedAt: Instant;
  /** A part is missing and may still come. */
  waitsForParts: boolean;
}

export const missingPart = '[…]';

/**
 * Milliseconds within which parts with one reference belong together, counted from the first. Phones count references to
 * 255: after longer, another part with the same one is rather of another text.
 */
export const partsWithin = 1_800_000;

/** Messages from outside. */
export interface Inbox {
  /** Keeps a message, or adds a part to the ones that came before it. Committed when it resolves. */
  keepIncoming(message: IncomingMessage): Promise<void>;
  /** Newest first by the first part, from behind `after`; null when `after` is not there. */
  listInbox(projectId: string, page: PageRequest): Promise<Listed<InboxRecord> | null>;
}

/** No database keeps U+0000 or half of a surrogate pair. */
export const storable = (text: string): string => Buffer.from(text.replaceAll('\0', '')).toString();

/** The parts of one text. */
export const seriesOf = ({ from, to, part }: IncomingMessage): string | null =>
  part === null ? null : [part.reference, part.total, from, to].join(' ');
