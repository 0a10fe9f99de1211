/** Whether a host, as in `URL.hostname`, is this machine, where plain http exposes nothing. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** The service never redirects: another address has answered. */
export const isRedirect = (status: number | null): boolean =>
  status !== null && status >= 300 && status < 400;
