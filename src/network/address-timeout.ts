/**
 * Milliseconds in which each address of a host must answer before the next one is tried. Node.js waits 250, less than
 * a round trip on a slow line: every connection to a host with IPv4 and IPv6 addresses would fail.
 */
const addressTimeout = 2_500;

/** For all connections of this process: to services, carriers, relays and databases. */
export async function waitForAddresses(): Promise<void> {
  const net = await import('node:net');
  // Whoever started Node.js with a longer timeout keeps it.
  if (net.getDefaultAutoSelectFamilyAttemptTimeout() < addressTimeout)
    net.setDefaultAutoSelectFamilyAttemptTimeout(addressTimeout);
}
