import { BlockList, isIP } from 'node:net';
import type { Network } from '../service.js';

/**
 * The address of the client: of the connection, or, where that is a trusted proxy, the last one in X-Forwarded-For that
 * is not. Whoever is not trusted may have written whatever stands before it.
 */
export function clientAddresses(proxies: readonly Network[]) {
  const trusted = new BlockList();
  for (const { address, prefix } of proxies) trusted.addSubnet(address, prefix, familyOf(address));
  return (peer: string | undefined, forwarded: string | null): string | null => {
    let client = plainAddress(peer ?? '');
    const hops = forwarded?.split(',') ?? [];
    while (client !== null && hops.length > 0 && trusted.check(client, familyOf(client))) {
      const before = plainAddress(hops.pop() ?? '');
      if (before === null) break;
      client = before;
    }
    return client;
  };
}

const familyOf = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4');

/** Some proxies add the port, and a link-local one has a zone. Null for anything but an address. */
function plainAddress(written: string): string | null {
  const text = written.trim().toLowerCase();
  const [, inBrackets, withPort] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const address = (inBrackets ?? withPort ?? text).replace(/^::ffff:(?=\d+\.)|%.*$/, '');
  return isIP(address) === 0 ? null : address;
}
