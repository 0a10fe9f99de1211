import { isLoopback } from '../../contract/index.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';

/** Throws CliError unless it is https, or http to this machine, or http is allowed. Drops trailing slashes. */
export function checkBaseUrl(written: string, allowHttp: boolean): string {
  const url = URL.canParse(written) ? new URL(written) : null;
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password + url.search + url.hash !== ''
  ) {
    throw refused('the base URL is not an http or https address', 'Example: https://sms.example.mn/v1');
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw refused(
      `the base URL ${url.origin} is plain http: key and texts would be sent unencrypted`,
      'Use https, or allow it: `urtuu login --allow-http`; or URTUU_ALLOW_HTTP=1',
    );
  }
  return written.replace(/\/+$/, '');
}

const refused = (message: string, hint: string) => new CliError('base_url', exits.usage, message, { hint });
