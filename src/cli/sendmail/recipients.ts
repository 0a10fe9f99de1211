import type { Email } from 'postal-mime';
import { normalizeAddress } from '../../contract/index.js';
import { repairAddress, visible } from '../bulk/input/repair.js';
import { CliError, inputError, usageError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { type AddressList, readAddressList } from './address-list.js';

/** The recipients: these addresses, and with `inHeaders` those in To, Cc and Bcc. */
export interface Addressed {
  recipients: readonly string[];
  inHeaders: boolean;
  /** The address for names without a domain, such as root; null if there is none. */
  localTo(): Promise<string | null>;
}

/**
 * The recipients without duplicates. Throws CliError if there are none, or one is not an address. `isGuessed`: the
 * charset of the headers may be another one, which would make an address in other letters another one.
 */
export async function recipientsOf(
  mail: Email,
  { recipients, inHeaders, localTo }: Addressed,
  isGuessed: boolean,
): Promise<string[]> {
  const { named, unreadable } = readLists([...recipients, ...(inHeaders ? addressedIn(mail) : [])]);
  if (named.length + unreadable.length === 0)
    throw usageError('the message has no recipient', 'Give it a To: header and use -t.');
  const to = new Set<string>();
  const strange = [...unreadable];
  for (const written of named) {
    // A blank within it parts two words, which are not to become one.
    const name = /\s/.test(written) ? written : repairAddress(written).value;
    const isCertain = !isGuessed || /^[\x20-\x7e]*$/.test(name);
    const address =
      isCertain && normalizeAddress(name) !== null ? name : localName.test(name) ? await localTo() : null;
    if (address === null) strange.push(written);
    else to.add(address);
  }
  if (strange.length > 0) throw notAddresses(strange);
  return [...to];
}

/** The lists in all headers of these names, in lower case. */
const listsIn = ({ headers }: Email, names: readonly string[]) =>
  headers.filter(({ key }) => names.includes(key)).map(({ value }) => value);

function readLists(lists: readonly string[]): AddressList {
  const read = lists.map(readAddressList);
  return {
    named: read.flatMap(({ named }) => named),
    unreadable: read.flatMap(({ unreadable }) => unreadable),
  };
}

function addressedIn(mail: Email): string[] {
  // Such a message is for those it was resent to; those in To already have it.
  if (listsIn(mail, ['resent-to', 'resent-cc', 'resent-bcc']).length > 0) {
    throw inputError('the message was resent, and -t cannot tell to whom', 'Name the recipients without -t.');
  }
  return listsIn(mail, ['to', 'cc', 'bcc']);
}

/** The name of a user of this machine; not an encoded word, which may hide an address. */
const localName = /^[\p{L}\p{N}._+-]+(?:@localhost)?$/iu;

const mostQuoted = 10;
const longestQuoted = 200;
/** In the JSON form, as many as the service names. */
const mostInvalid = 50;

function notAddresses(written: readonly string[]): CliError {
  const quoted = written.slice(0, mostQuoted).map((each) => `'${visible(each.slice(0, longestQuoted))}'`);
  const more = written.length - quoted.length;
  const all = `${quoted.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const message = written.length === 1 ? `${all} is not an email address` : `not email addresses: ${all}`;
  return new CliError('invalid_input', exits.input, message, {
    hint: written.some((each) => localName.test(each))
      ? 'For names without a domain, add --local-to ADDRESS. In a crontab, set MAILTO=ADDRESS.'
      : 'Nothing was sent. Write the addresses as in: Bat <bat@example.mn>, dorj@example.mn',
    details: { invalid: written.slice(0, mostInvalid) },
  });
}
