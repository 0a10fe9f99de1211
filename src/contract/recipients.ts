import { normalizeAddress } from './addresses.js';
import { readNumber } from './numbers.js';

/** The normal form of a phone number or an email address; anything else as written. */
export function normalizeRecipient(written: string): string {
  const reading = readNumber(written);
  return reading.kind === 'number' ? reading.number : (normalizeAddress(written) ?? written);
}
