import { parseUrl } from '../../../contract/index.js';
export interface ServerAddress {
  protocol: string;
  /** As sockets take it: IPv6 without brackets. */
  host: string;
  port: number;
}

/** Parses `<protocol>://<host>:<port>` and nothing more; null for anything else. `defaultPorts`: by protocol. */
export function serverAddressOf(
  written: string,
  defaultPorts: Readonly<Record<string, number>>,
): ServerAddress | null {
  const url = parseUrl(written);
  if (url === null) return null;
  const { protocol, hostname, port, pathname, search, hash, username, password } = url;
  const defaultPort = defaultPorts[protocol];
  if (defaultPort === undefined || hostname === '') return null;
  if (pathname.replace(/^\/$/, '') + search + hash + username + password !== '') return null;
  const host = hostname.replace(/^\[|\]$/g, '');
  return { protocol, host, port: port === '' ? defaultPort : Number(port) };
}
