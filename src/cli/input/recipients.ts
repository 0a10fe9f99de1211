import { InvalidArgumentError } from 'commander';
import { mixesAlphabets, normalizeAddress, readNumber } from '../../contract/index.js';
import type { Check } from './required.js';

/** Of any operator: the service knows which ones exist. */
const operators = { any: Array.from({ length: 100 }, (_, prefix) => String(prefix).padStart(2, '0')) };

const isNumber = (written: string) => readNumber(written.trim(), operators).kind === 'number';
const isAddress = (written: string) => normalizeAddress(written.trim()) !== null;

const mixed = (written: string) =>
  mixesAlphabets(written) && `'${written}' mixes letters of two alphabets, such as Latin and Cyrillic`;

export const checkNumber: Check = (written) =>
  isNumber(written) || `'${written}' is not a phone number: write its 8 digits`;

export const checkAddress: Check = (written) =>
  isAddress(written) || mixed(written) || `'${written}' is not an email address`;

export const checkRecipient: Check = (written) =>
  isNumber(written) ||
  isAddress(written) ||
  mixed(written) ||
  `'${written}' is neither a phone number nor an email address`;

/** Reads the value of an option. Throws commander's InvalidArgumentError. */
export function readAddress(written: string): string {
  const checked = checkAddress(written);
  if (checked !== true) throw new InvalidArgumentError(String(checked));
  return written.trim();
}
