import { comparedRecipient, mailboxOf, type SuppressionReason } from '../../../contract/index.js';
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

/** What a recipient may be suppressed under. */
export interface SuppressedAs {
  /** Its compared form, and what erasures have made of it; the last of an opt-out. */
  whole: readonly [string, string, string, string];
  /** Opt-outs of an address hold for all its tags. */
  optOut: string;
}

export function suppressedAs(to: string, pseudonymOf: PseudonymOf): SuppressedAs {
  const { own, mailbox } = pseudonymsOf(to, pseudonymOf);
  return { whole: [comparedRecipient(to), ...own, mailbox], optOut: mailboxOf(to) };
}

/** What a recipient is suppressed under from now on; once erased, under a pseudonym of it. */
export const keyOf = (to: string, reason: SuppressionReason): string =>
  reason === 'opt_out' ? mailboxOf(to) : comparedRecipient(to);

export function erasedKeyOf(to: string, reason: SuppressionReason, pseudonymOf: PseudonymOf): string {
  const { own, mailbox } = pseudonymsOf(to, pseudonymOf);
  return reason === 'opt_out' ? mailbox : own[0];
}

/** Why a recipient is suppressed, among what was `found` under its forms; of several reasons always the same. */
export function reasonAmong(
  { whole, optOut }: SuppressedAs,
  found: ReadonlyMap<string, SuppressionReason>,
  obeysOptOuts = true,
): SuppressionReason | null {
  const optedOut = found.get(optOut) === 'opt_out' ? (['opt_out'] as const) : [];
  const reasons = [...whole.flatMap((each) => found.get(each) ?? []), ...optedOut];
  const [first = null] = reasons.filter((reason) => obeysOptOuts || reason !== 'opt_out').sort();
  return first;
}
