import { expect, it } from 'vitest';
import { clientAddresses } from '../../../src/service/http/client-address.js';

const networks = [
  { address: '10.0.0.0', prefix: 8 },
  { address: '192.0.2.1', prefix: 32 },
  { address: '2001:db8::', prefix: 32 },
];
const addressOf = clientAddresses(networks);

it.each<[string, string | undefined, string | null, string | null]>([
  ['the connection', '203.0.113.9', null, '203.0.113.9'],
  ['the connection, whatever a stranger says', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['what a trusted proxy says', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  [
    'the last that is not a trusted proxy',
    '10.1.2.3',
    '1.1.1.1, 198.51.100.1, 192.0.2.1,10.0.0.9',
    '198.51.100.1',
  ],
  ['the first where all are trusted', '10.1.2.3', '10.0.0.7, 10.0.0.8', '10.0.0.7'],
  ['the proxy without the header', '10.1.2.3', null, '10.1.2.3'],
  ['the proxy with an empty one', '10.1.2.3', '', '10.1.2.3'],
  ['the proxy that says no address', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
  ['the proxy that says what a log must not have', '10.1.2.3', '1.1.1.1, "\u001b[2J', '10.1.2.3'],
  ['an address with a port', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
  ['an address of IPv6 with a port', '2001:db8::1', '[2001:DB9::5]:4711', '2001:db9::5'],
  ['an address of IPv6', '2001:db8::1', '2001:db9::5', '2001:db9::5'],
  ['an IPv4 address that came over IPv6', '::ffff:10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
  ['a link-local one without its zone', 'fe80::1%eth0', '198.51.100.1', 'fe80::1'],
  ['none of a closed connection', undefined, '198.51.100.1', null],
])("a client's address is %s", (_, peer, forwarded, expected) => {
  expect(addressOf(peer, forwarded)).toBe(expected);
});

it('without trusted proxies it is that of the connection', () => {
  expect(clientAddresses([])('127.0.0.1', '198.51.100.1')).toBe('127.0.0.1');
});
