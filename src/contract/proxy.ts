import { isLoopback } from './base-url.js';

export interface ProxyAddress {
  address: string;
  /** The environment variable that sets it. */
  variable: string;
}

/** The proxy for a URL, from HTTPS_PROXY, HTTP_PROXY and NO_PROXY (upper or lower case); never for loopback. */
export function proxyFor(
  url: URL,
  environment: Readonly<Record<string, string | undefined>>,
): ProxyAddress | null {
  if (isLoopback(url.hostname)) return null;
  const small = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const variable = environment[small] ? small : small.toUpperCase();
  const address = environment[variable];
  if (!address) return null;
  const exceptions = (environment.no_proxy || environment.NO_PROXY || '').split(',');
  return exceptions.some((each) => excepts(each.trim(), url)) ? null : { address, variable };
}

/** Why an address cannot be used; null if it can. */
export function proxyProblem(address: string): 'not an address' | 'not encoded' | null {
  const url = URL.canParse(address) ? new URL(address) : null;
  const isAddress = url !== null && /^https?:$/.test(url.protocol);
  if (isAddress && isEncoded(url)) return null;
  return address.includes('@') ? 'not encoded' : 'not an address';
}

function isEncoded({ username, password, pathname, search, hash }: URL): boolean {
  // An unencoded # or / in the password ends the host.
  if ((pathname + search + hash).includes('@')) return false;
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

function excepts(exception: string, url: URL): boolean {
  if (exception === '') return false;
  if (exception === '*') return true;
  const [, host = '', port] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(exception.toLowerCase()) ?? [];
  const ownPort = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (port !== undefined && port !== ownPort) return false;
  return url.hostname === host || url.hostname.endsWith(`.${host}`);
}
