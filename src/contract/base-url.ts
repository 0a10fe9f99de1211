/** Whether a host, as in `URL.hostname`, is this machine, where plain http exposes nothing. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
