import { isLoopback } from '../../contract/index.js';

/** The address of the dashboard, and what browsers send from there. */
export interface Origin {
  /** `https://sms.example.mn`; without a path. */
  url: string;
  hosts: ReadonlySet<string>;
  origins: ReadonlySet<string>;
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
  const hosts = new Set([main.host, ...names]);
  return {
    url: main.origin,
    hosts,
    origins: new Set([...hosts].map((host) => `${main.protocol}//${host}`)),
    isSecure: main.protocol === 'https:',
    cookie: `urtuu_session${port.replace(':', '_')}`,
  };
}
