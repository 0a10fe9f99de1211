import * as z from 'zod/mini';
import { parseUrl } from '../../../contract/index.js';
import { rule } from '../../parse-fields.js';

export interface ServerAddress {
  protocol: string;
  /** As sockets take it: IPv6 without brackets. */
  host: string;
  port: number;
}

type Ports = Readonly<Record<string, number>>;

/** `<protocol>://<host>:<port>` and nothing more. `defaultPorts`: by protocol. */
export const serverAddress = (defaultPorts: Ports, problem: string) =>
  z.pipe(
    z.string().check(rule((text) => serverAddressOf(text, defaultPorts) !== null, problem)),
    z.transform((text) => serverAddressOf(text, defaultPorts) as ServerAddress),
  );

function serverAddressOf(written: string, defaultPorts: Ports): ServerAddress | null {
  const url = parseUrl(written);
  if (url === null) return null;
  const { protocol, hostname, port, pathname, search, hash, username, password } = url;
  const defaultPort = defaultPorts[protocol];
  if (defaultPort === undefined || hostname === '') return null;
  if (pathname.replace(/^\/$/, '') + search + hash + username + password !== '') return null;
  const host = hostname.replace(/^\[|\]$/g, '');
  return { protocol, host, port: port === '' ? defaultPort : Number(port) };
}
