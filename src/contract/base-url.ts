/** Whether a host, as `URL.hostname` gives it, is this machine: plain http to it leaves nothing in the open. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
