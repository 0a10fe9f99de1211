/** Whether a host, as in `URL.hostname`, is this machine, where plain http exposes nothing. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Null for another text. Not by URL.canParse, which jsdom 20 lacks. */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** A base URL in its one spelling: lower case, without a default port or trailing slashes. */
export const baseUrlFrom = ({ origin, pathname }: URL): string =>
  origin + pathname.replace(/(?<!\/)\/+$/, '');

/** A base URL as it was written, in its one spelling; other text stays as it is. */
export function canonicalBaseUrl(written: string): string {
  const url = parseUrl(written);
  return url !== null && /^https?:$/.test(url.protocol) ? baseUrlFrom(url) : written;
}

/** Whatever their spelling. */
export const isSameBaseUrl = (one: string, other: string): boolean =>
  canonicalBaseUrl(one) === canonicalBaseUrl(other);

/** The service never redirects: another address has answered. */
export const isRedirect = (status: number | null): boolean =>
  status !== null && status >= 300 && status < 400;
