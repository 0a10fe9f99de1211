import { isLoopback } from '../../../../contract/index.js';
import { DataError } from '../../../errors/data-error.js';

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
/** libpq encrypts with some of them only where it can, or checks nothing. Here all are encrypted and checked. */
const checked = /(?<=[?&]sslmode=)(?:allow|prefer|require|verify-ca)(?=&|$)/g;
const files = { sslrootcert: 'PGSSLROOTCERT', sslcert: 'PGSSLCERT', sslkey: 'PGSSLKEY' };

/**
 * The URL for the driver, which must not interpret modes by itself: it warns of some, does not know the files of libpq's
 * variables, and an unknown PGSSLMODE would be plain text. Throws DataError for a mode that nobody knows.
 */
export function withTls(url: string, env: NodeJS.ProcessEnv = process.env): string {
  const given = new URLSearchParams(url.split('?')[1]);
  const named = given.getAll('sslmode').at(-1) || undefined;
  const mode = named ?? (env.PGSSLMODE || undefined);
  if (mode !== undefined && !modes.includes(mode)) {
    throw new DataError(`${named === undefined ? 'PGSSLMODE' : 'sslmode'} is none of ${modes.join(', ')}`, {
      hint: 'To encrypt and check the certificate: sslmode=verify-full',
    });
  }
  const isCompatible = given.get('uselibpqcompat') === 'true';
  if (isCompatible && mode === 'verify-ca' && !given.get('sslrootcert')) {
    throw new DataError('sslmode=verify-ca needs the certificate of an authority', {
      hint: 'Add its file to the URL: sslrootcert=/etc/urtuu/database.pem',
    });
  }
  // The certificates that Node.js knows, and never less than a whole check.
  const isSystem = given.get('sslrootcert') === 'system';
  let result = isSystem ? withoutParameters(url, /^(?:sslrootcert|sslmode|uselibpqcompat)=/) : url;
  if (isSystem) result = withParameter(result, 'sslmode', 'verify-full');
  if (!isCompatible) result = result.replace(checked, 'verify-full');
  const isOn = mode !== undefined && !['disable', 'no-verify'].includes(mode) && mode !== 'allow';
  for (const [parameter, variable] of Object.entries(files)) {
    const file = env[variable];
    if (isOn && file && file !== 'system' && !given.has(parameter))
      result = withParameter(result, parameter, file);
  }
  return result;
}

const withParameter = (url: string, name: string, value: string) =>
  `${url}${url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;

function withoutParameters(url: string, names: RegExp): string {
  const [address = '', query = ''] = url.split('?');
  return `${address}?${query
    .split('&')
    .filter((each) => !names.test(each))
    .join('&')}`;
}

/** Whether passwords and texts would cross a network as they are. */
export function isPlainText({ host, ssl }: { host: string; ssl: unknown }): boolean {
  const isHere = host.startsWith('/') || isLoopback(host === '::1' ? '[::1]' : host.toLowerCase());
  return !ssl && !isHere;
}
