/** Whether a host, as in `URL.hostname`, is this machine, where plain http exposes nothing. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** A base URL in its one spelling: lower case, without a default port or trailing slashes. */
export const baseUrlFrom = ({ origin, pathname }: URL): string => origin + pathname.replace(/\/+$/, '');

/** Whether two base URLs certainly lead to one service: this machine has several names, and older jobs any spelling. */
export function isSameService(one: string, other: string): boolean {
  return one === other || serviceOf(one) === serviceOf(other);
}

function serviceOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return baseUrl;
  if (isLoopback(url.hostname)) url.hostname = 'localhost';
  return baseUrlFrom(url);
}

/** The service never redirects: another address has answered. */
export const isRedirect = (status: number | null): boolean =>
  status !== null && status >= 300 && status < 400;
