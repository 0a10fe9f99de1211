import { BlockList, isIP } from 'node:net';
import { isLoopback, parseUrl } from '../contract/index.js';
import type { Env } from './proxy-variables.js';

export interface Proxy {
  url: URL;
  /** The environment variable that names it. */
  variable: string;
}

/** Its message shows nothing of the address, which may contain a password. */
export class UnusableProxy extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/**
 * The proxy for a URL, as curl reads it from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in lower case first; never
 * for this machine. Throws UnusableProxy.
 */
export function proxyFor(url: URL, env: Env): Proxy | null {
  if (isThisMachine(url.hostname)) return null;
  const own = `${url.protocol.slice(0, -1)}_proxy`;
  const names = [own, own.toUpperCase(), 'all_proxy', 'ALL_PROXY'];
  // Whoever asks a CGI program for something sets HTTP_PROXY by a header "Proxy".
  const variable = names.find((name) => env[name] && (name !== 'HTTP_PROXY' || !env.REQUEST_METHOD));
  if (variable === undefined || isExcepted(url, env.no_proxy || env.NO_PROXY || '')) return null;
  return { url: readAddress((env[variable] as string).trim(), variable), variable };
}

function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '');
  return isLoopback(host) || host.endsWith('.localhost') || ownAddresses.includes(host) || isMapped(host);
}

/** Where a connection to any address of this machine arrives. */
const ownAddresses = ['0.0.0.0', '[::]'];

/** 127.0.0.1 as an IPv6 address. */
const isMapped = (host: string): boolean => host.startsWith('[::ffff:7f');

function readAddress(address: string, variable: string): URL {
  const written = address.includes('://') ? address : `http://${address}`;
  const url = parseUrl(written);
  if (/^socks/i.test(written))
    throw new UnusableProxy(
      `${variable} names a SOCKS proxy, which is not supported`,
      'Set https_proxy to an HTTP proxy, or add the host to NO_PROXY.',
    );
  if (url !== null && /^https?:$/.test(url.protocol) && isEncoded(url)) return url;
  if (address.includes('@'))
    throw new UnusableProxy(
      `the user name or password in ${variable} is not percent-encoded`,
      'Percent-encode the password: % is %25, # is %23, / is %2F, ? is %3F.',
    );
  throw new UnusableProxy(
    `${variable} is not an http or https address`,
    `Example: ${variable}=http://proxy.example.mn:3128`,
  );
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

function isExcepted(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list.split(/[\s,]+/).some((entry) => excepts(entry, host, port));
}

/** An entry: `*`, an address or a range of them (`10.0.0.0/8`), or a domain; the last two may end in a port. */
function excepts(entry: string, host: string, port: string): boolean {
  const { name = entry, only = port } = /^(?<name>\[.*\]|[^:]*):(?<only>\d+)$/.exec(entry)?.groups ?? {};
  if (only !== port) return false;
  const [address = '', bits] = name.replace(/[[\]]/g, '').split('/');
  if (isIP(address) !== 0) return isIP(host) !== 0 && isWithin(host, address, bits);
  const domain = canonical(name.replace(/^(?:\*?\.)+|\.$/g, ''));
  if (domain.includes('*')) return matches(host, domain);
  return domain !== '' && isIP(host) === 0 && (host === domain || host.endsWith(`.${domain}`));
}

function isWithin(host: string, address: string, bits: string | undefined): boolean {
  const list = new BlockList();
  const family = familyOf(address);
  const most = family === 'ipv4' ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  if (bits === '' || !Number.isInteger(prefix) || prefix < 0 || prefix > most) return false;
  list.addSubnet(address, prefix, family);
  return list.check(host, familyOf(host));
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** As in `URL.hostname`: lower case, other alphabets as xn--. */
function canonical(domain: string): string {
  const url = domain.includes('/') ? null : parseUrl(`http://${domain}`);
  return url?.hostname ?? domain.toLowerCase();
}

/** Whether a host matches a pattern with asterisks; in linear time. */
function matches(host: string, pattern: string): boolean {
  const pieces = pattern.split('*');
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)];
  let end = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const start = host.indexOf(piece, end);
    if (start === -1) return false;
    end = start + piece.length;
  }
  return host.startsWith(first) && host.endsWith(last) && end <= host.length - last.length;
}
