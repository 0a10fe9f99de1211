import { normalizeAnyAddress } from './addresses.js';
import { normalNumber } from './numbers.js';

/** The normal form of a phone number of any operator, or of an email address; anything else as written. */
export const normalizeRecipient = (written: string): string =>
  normalNumber(written) ?? normalizeAnyAddress(written) ?? written;
