import { InvalidArgumentError } from 'commander';
import {
  mixedAlphabets,
  mixesAlphabets,
  normalizeAddress,
  normalizeAnyAddress,
  normalizeRecipient,
  normalNumber,
  readNumber,
} from '../../contract/index.js';
import { quoted } from '../bulk/input/input-error.js';
import { repairAddress, repairNumber } from '../bulk/input/repair.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Check } from './required.js';

/** What a recipient may be. */
export type RecipientKind = 'number' | 'address' | 'any';

const problems: Readonly<Record<RecipientKind, string>> = {
  number: 'is not a phone number: write its 8 digits',
  address: 'is not an email address',
  any: 'is neither a phone number nor an email address',
};

/**
 * The recipient, repaired as in a list if the service could not read it as written. The service knows which operators
 * exist. Throws CliError (exit 8) for anything else.
 */
export function readRecipient(
  kind: RecipientKind,
  written: string,
  option = '',
  hint = 'Nothing was sent this time.',
): string {
  const read = readings[kind](written);
  // An earlier release sent to addresses that are refused now, perhaps under the same idempotency key.
  if (read === null) throw refused(`${option}${problemOf(kind, written)}`, hint);
  return read;
}

/** The recipient in its normal form, to search for: also one that is stored and that nothing is sent to any more. */
export function wantedRecipient(written: string): string {
  const read = numberOf(written) ?? repairedIf(isStorable, written, repairAddress);
  if (read === null) throw refused(problemOf('any', written));
  return normalizeRecipient(read);
}

const isStorable = (value: string) => normalizeAnyAddress(value) !== null;

/** With the code of the service, which refuses it too. */
const refused = (problem: string, hint?: string) =>
  new CliError('invalid_request', exits.input, problem, hint === undefined ? {} : { hint });

const numberOf = (written: string): string | null =>
  repairedIf((value) => readNumber(value).kind !== 'invalid', written, repairNumber);
const addressOf = (written: string): string | null =>
  repairedIf((value) => normalizeAddress(value) !== null, written, repairAddress);
const readings: Readonly<Record<RecipientKind, (written: string) => string | null>> = {
  number: numberOf,
  address: addressOf,
  any: (written) => numberOf(written) ?? addressOf(written),
};

/** Undamaged recipients stay as they were written: idempotency keys belong to what was sent. */
function repairedIf(
  isValid: (value: string) => boolean,
  written: string,
  repair: (written: string) => { value: string },
): string | null {
  if (isValid(written)) return written;
  const value = repair(written).value.trim();
  return isValid(value) ? value : null;
}

function problemOf(kind: RecipientKind, written: string): string {
  const isMixed = kind !== 'number' && mixesAlphabets(written);
  return `${quoted(written)} ${isMixed ? mixedAlphabets : problems[kind]}`;
}

/** A prompt also refuses numbers that are not Mongolian. */
const check =
  (kind: RecipientKind): Check =>
  (written) => {
    const read = readings[kind](written);
    const isKnown = read !== null && (normalNumber(read) !== null || normalizeAddress(read) !== null);
    return isKnown || problemOf(kind, written);
  };

export const checkNumber = check('number');
export const checkAddress = check('address');
export const checkRecipient = check('any');

/** Reads the value of an option. Throws commander's InvalidArgumentError. */
export function readAddress(written: string): string {
  const address = addressOf(written);
  if (address === null) throw new InvalidArgumentError(problemOf('address', written));
  return address.trim();
}
