import { isLoopback } from '../../contract/index.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The proxy for a URL by HTTPS_PROXY, HTTP_PROXY and NO_PROXY (capital or small); never for loopback. */
export function proxyFor(url: URL, env: Env): string | null {
  if (isLoopback(url.hostname)) return null;
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const proxy = env[name] || env[name.toUpperCase()];
  if (!proxy) return null;
  const exceptions = (env.no_proxy || env.NO_PROXY || '').split(',').map((each) => each.trim());
  return exceptions.some((each) => excepts(each, url)) ? null : proxy;
}

function excepts(exception: string, url: URL): boolean {
  if (exception === '') return false;
  if (exception === '*') return true;
  const [, host = '', port] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(exception.toLowerCase()) ?? [];
  const ownPort = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (port !== undefined && port !== ownPort) return false;
  return url.hostname === host || url.hostname.endsWith(`.${host}`);
}
