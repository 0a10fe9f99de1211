/** Whether a host, as in `URL.hostname`, is this machine, where plain http exposes nothing. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** A base URL in its one spelling: lower case, without a default port or trailing slashes. */
export const baseUrlFrom = ({ origin, pathname }: URL): string => origin + pathname.replace(/\/+$/, '');

/** Whatever their spelling. */
export function isSameBaseUrl(one: string, other: string): boolean {
  return one === other || spelled(one) === spelled(other);
}

const spelled = (baseUrl: string) =>
  /^https?:/i.test(baseUrl) && URL.canParse(baseUrl) ? baseUrlFrom(new URL(baseUrl)) : baseUrl;

/** The service never redirects: another address has answered. */
export const isRedirect = (status: number | null): boolean =>
  status !== null && status >= 300 && status < 400;
