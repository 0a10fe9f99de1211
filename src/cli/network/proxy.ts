import { isLoopback } from '../../contract/index.js';
import { usageError } from '../errors.js';

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL by HTTPS_PROXY, HTTP_PROXY and NO_PROXY (capital or small); never for loopback. Throws CliError
 * (exit 2) for an address that cannot be used.
 */
export function proxyFor(url: URL, env: Env): string | null {
  if (isLoopback(url.hostname)) return null;
  const small = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const name = env[small] ? small : small.toUpperCase();
  const proxy = env[name];
  if (!proxy) return null;
  const exceptions = (env.no_proxy || env.NO_PROXY || '').split(',').map((each) => each.trim());
  if (exceptions.some((each) => excepts(each, url))) return null;
  checkProxy(proxy, name);
  return proxy;
}

/** Shows nothing of the address, which may hold a password. */
function checkProxy(proxy: string, name: string): void {
  const url = URL.canParse(proxy) ? new URL(proxy) : null;
  const isAddress = url !== null && /^https?:$/.test(url.protocol);
  if (isAddress && isEncoded(url)) return;
  if (proxy.includes('@')) {
    throw usageError(
      `the user name or password in ${name} is not percent-encoded`,
      'Percent-encode the password: % is %25, # is %23, / is %2F, ? is %3F.',
    );
  }
  throw usageError(
    `${name} is not an http or https address`,
    `Example: ${name}=http://proxy.example.mn:3128`,
  );
}

function isEncoded({ username, password, pathname, search, hash }: URL): boolean {
  // The host ends at a # or / of the password.
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
