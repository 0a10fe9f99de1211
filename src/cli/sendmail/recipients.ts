import { addressParser, type Email } from 'postal-mime';
import { normalizeAddress } from '../../contract/index.js';
import { inputError, usageError } from '../errors.js';

/** The recipients: these addresses, and with `inHeaders` those in To, Cc and Bcc. */
export interface Addressed {
  recipients: readonly string[];
  inHeaders: boolean;
  /** The address for names without a domain, such as root; null if there is none. */
  localTo(): Promise<string | null>;
}

/** The recipients without duplicates. Throws CliError if there are none, or one is not an address. */
export async function recipientsOf(
  mail: Email,
  { recipients, inHeaders, localTo }: Addressed,
): Promise<string[]> {
  const names = [...recipients, ...(inHeaders ? addressedIn(mail) : [])].flatMap(namesIn);
  if (names.length === 0)
    throw usageError('the message has no recipient', 'Give it a To: header and use -t.');
  const to = new Set<string>();
  for (const name of names) to.add(await addressOf(name, localTo));
  return [...to];
}

function addressedIn({ headers }: Email): string[] {
  // Such a message is for those it was resent to; those in To already have it.
  if (headers.some(({ key }) => resent.test(key))) {
    throw inputError('the message was resent, and -t cannot tell to whom', 'Name the recipients without -t.');
  }
  return headers.filter(({ key }) => /^(?:to|cc|bcc)$/.test(key)).map(({ value }) => value);
}
const resent = /^resent-(?:to|cc|bcc)$/;

/** The addresses in a list, or the names of entries without one. Missing commas are added, as sendmail does. */
function namesIn(list: string): string[] {
  const complete = /[<>"():\\]/.test(list) ? list : list.trim().replace(/[ \t]+/g, ', ');
  return addressParser(complete, { flatten: true }).map(({ address, name }) => {
    // In `a@ex.mn b@ex.mn (both)`, the parser mistakes one for the name of the other.
    if (name.includes('@') && !list.includes('<')) throw notAnAddress(list);
    return address || name;
  });
}

async function addressOf(name: string, localTo: Addressed['localTo']): Promise<string> {
  if (normalizeAddress(name) !== null) return name;
  const address = /^[^\s@]+(?:@localhost)?$/i.test(name) ? await localTo() : null;
  if (address === null) throw notAnAddress(name);
  return address;
}

const notAnAddress = (name: string) =>
  inputError(
    `'${name}' is not an email address`,
    'For names without a domain, add --local-to ADDRESS. In a crontab, set MAILTO=ADDRESS.',
  );
