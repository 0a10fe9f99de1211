import { isLoopback } from '../../contract/index.js';

/** An address of the service for people, and what browsers send from there. */
export interface Origin {
  /** `https://sms.example.mn`; without a path. */
  url: string;
  /** Whether a Host header is one of its names. */
  hasHost(host: string | null): boolean;
  /** Whether a form with these headers is one of its pages', as its browser says. */
  hasForm(headers: Pick<Headers, 'get'>): boolean;
  /** Whether the cookie is only sent over TLS. */
  isSecure: boolean;
  /** Ports of a host share cookies, but not sessions. */
  cookie: string;
}

/** `publicUrl` alone, or the listening address and this machine's names with its port. */
export function originOf(publicUrl: string | null, listening: string): Origin {
  const main = new URL(publicUrl ?? listening);
  const port = main.port === '' ? '' : `:${main.port}`;
  const names =
    publicUrl === null && isLoopback(main.hostname)
      ? ['localhost', '127.0.0.1', '[::1]'].map((name) => name + port)
      : [];
  const hosts = [main.host, ...names];
  const known = new Set(hosts.map(plainHost));
  const origins = new Set(hosts.map((host) => `${main.protocol}//${host}`));
  return {
    url: main.origin,
    hasHost: (host) => known.has(plainHost(host ?? '')),
    hasForm(headers) {
      const origin = headers.get('origin') ?? '';
      // A proxy that adds `Referrer-Policy: no-referrer` makes it null, others drop it; no page can write the other header.
      if (origin === '' || origin === 'null') return headers.get('sec-fetch-site') === 'same-origin';
      return origins.has(origin.toLowerCase().replace(/\.(?=:|$)/, ''));
    },
    isSecure: main.protocol === 'https:',
    cookie: `urtuu_session${port.replace(':', '_')}`,
  };
}

/** Without case, the dot of the root and a default port: proxies add that of the side that they know. */
const plainHost = (host: string) =>
  host
    .toLowerCase()
    .replace(/:(?:80|443)$/, '')
    .replace(/\.(?=:|$)/, '');

/** Another name for this machine, as an attack by DNS would use, or a proxy that writes its own. */
export function misdirected({ url }: Origin, host: string): Response {
  const text = `The dashboard is at ${url}/dashboard, but this request is for the host "${host}".
Behind a proxy: pass on the Host of the browser, in nginx with "proxy_set_header Host $http_host;".
`;
  return new Response(text, {
    status: 421,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  });
}
