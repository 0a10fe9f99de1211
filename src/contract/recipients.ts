import { normalizeAnyAddress } from './addresses.js';
import { normalNumber } from './numbers.js';

/** The normal form of a phone number of any operator, or of an email address; anything else as written. */
export const normalizeRecipient = (written: string): string =>
  normalNumber(written) ?? normalizeAnyAddress(written) ?? written;

/**
 * What a recipient in normal form is compared by: an address in lower case (ASCII, as its normal form is), for mail
 * servers read both alike; it is delivered and shown as written. Anything else is itself.
 */
export const comparedRecipient = (to: string): string => (to.includes('@') ? to.toLowerCase() : to);

/** The same without the tag, `+news` of `bat+news@example.mn`: mail to both arrives in one mailbox. */
export function mailboxOf(to: string): string {
  const compared = comparedRecipient(to);
  const tag = compared.indexOf('+');
  // A plus at the beginning begins no tag: nothing would be left.
  return tag < 1 || !compared.includes('@')
    ? compared
    : compared.slice(0, tag) + compared.slice(compared.lastIndexOf('@'));
}
