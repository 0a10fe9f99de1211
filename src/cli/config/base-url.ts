import { isLoopback, parseUrl } from '../../contract/index.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';

/** Throws CliError unless it is https, http to this machine, or http is allowed. Removes trailing slashes. */
export function checkBaseUrl(written: string, allowHttp: boolean): string {
  const url = parseUrl(written);
  const example = 'Example: https://sms.example.mn/v1';
  // A URL is read without them, but the keys of jobs contain it as written.
  if (/[\s\p{C}]/u.test(written))
    throw refused('the base URL contains a blank or an invisible character', `Leave it out. ${example}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw refused('the base URL is not an http or https address', example);
  // Nothing of them is printed: they may be secrets.
  if (url.username + url.password !== '')
    throw refused('the base URL has a user or password', 'Leave it out: a service needs only the API key.');
  if (/[?#]/.test(written))
    throw refused(
      `the base URL has a ${written.includes('?') ? 'query' : 'fragment'}`,
      `Leave it out. ${example}`,
    );
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw refused(
      `the base URL ${url.origin} is plain http: key and texts would be sent unencrypted`,
      'Use https, or allow it: `urtuu login --allow-http`; or URTUU_ALLOW_HTTP=1',
    );
  }
  // The keys of jobs contain it as written.
  return written.replace(/(?<!\/)\/+$/, '');
}

const refused = (message: string, hint: string) => new CliError('base_url', exits.usage, message, { hint });
