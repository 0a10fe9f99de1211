import { comparedRecipient, mailboxOf } from '../../../contract/index.js';
import type { Earlier } from '../caps.js';
import type { Instant } from '../records.js';
import type { PseudonymOf } from './secret.js';

/** No earlier messages. */
export const noneEarlier: Earlier = { own: [], all: [] };

/** The column `mailbox` of a message: caps count all tags of an address by it. Null where it is the recipient itself. */
export function mailboxColumn(to: string): string | null {
  const mailbox = mailboxOf(to);
  return mailbox === to ? null : mailbox;
}

/** Whether messages to other recipients count: for an address, those to other spellings and tags. */
export const hasSpellings = (to: string): boolean => to.includes('@');

/** The mailbox of an address; null for a number. */
export const mailboxIn = (to: string): string | null => (hasSpellings(to) ? mailboxOf(to) : null);

/** An earlier message to a mailbox. */
export interface EarlierTo {
  recipient: string;
  time: Instant;
}

/** Of messages to a mailbox, newest first, those to the recipient. */
export function earlierOf(to: string, found: readonly EarlierTo[]): Earlier {
  const compared = comparedRecipient(to);
  return {
    own: found.filter(({ recipient }) => comparedRecipient(recipient) === compared).map(({ time }) => time),
    all: found.map(({ time }) => time),
  };
}

/** Pseudonyms under which the sends to an erased recipient are counted: its own, and that of its mailbox. */
export interface Pseudonyms {
  /** The second as releases before this one wrote it. */
  own: readonly [compared: string, asWritten: string];
  mailbox: string;
}

export const pseudonymsOf = (to: string, pseudonymOf: PseudonymOf): Pseudonyms => ({
  own: [pseudonymOf(comparedRecipient(to)), pseudonymOf(to)],
  // No address begins with an @.
  mailbox: hasSpellings(to) ? pseudonymOf(`@${mailboxOf(to)}`) : pseudonymOf(to),
});

/** As the functions of a database take them. */
export function pseudonymList(to: string, pseudonymOf: PseudonymOf): string[] {
  const { own, mailbox } = pseudonymsOf(to, pseudonymOf);
  return [...own, mailbox];
}

/** The pseudonyms that an erasure counts a message under. */
export function countedAs(to: string, pseudonymOf: PseudonymOf): string[] {
  const { own, mailbox } = pseudonymsOf(to, pseudonymOf);
  return [...new Set([own[0], mailbox])];
}

/** What a recipient may be suppressed under: its compared form, and what an erasure has made of that or of the address. */
export const suppressedAs = (to: string, pseudonymOf: PseudonymOf): [string, string, string] => [
  comparedRecipient(to),
  ...pseudonymsOf(to, pseudonymOf).own,
];
