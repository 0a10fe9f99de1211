import { describe, expect, it } from 'vitest';
import { proxyFor, UnusableProxy } from '../../src/network/proxy.js';

const found = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.url.host ?? null;
const error = (variable: string, value: string): unknown => {
  try {
    return found('https://a.mn/', { [variable]: value });
  } catch (thrown) {
    return thrown;
  }
};

describe('the proxy', () => {
  it.each([
    ['https://a.mn/', { HTTPS_PROXY: 'http://p:1' }, 'p:1'],
    ['https://a.mn/', { https_proxy: 'http://p:1', HTTPS_PROXY: 'http://q:1' }, 'p:1'],
    ['http://a.mn/', { HTTPS_PROXY: 'http://p:1' }, null],
    ['http://a.mn/', { HTTP_PROXY: 'http://p:1' }, 'p:1'],
    ['http://a.mn/', { HTTP_PROXY: 'http://p:1', REQUEST_METHOD: 'GET' }, null],
    ['http://a.mn/', { http_proxy: 'http://p:1', REQUEST_METHOD: 'GET' }, 'p:1'],
    ['https://a.mn/', { ALL_PROXY: 'http://p:1' }, 'p:1'],
    ['http://a.mn/', { all_proxy: 'http://p:1', ALL_PROXY: 'http://q:1' }, 'p:1'],
    ['https://a.mn/', { https_proxy: '', ALL_PROXY: 'http://q:1' }, 'q:1'],
    ['https://a.mn/', { HTTPS_PROXY: 'http://p:1', ALL_PROXY: 'socks5://q:1' }, 'p:1'],
    ['https://a.mn/', { ALL_PROXY: 'socks5://q:1', NO_PROXY: 'a.mn' }, null],
    ['https://a.mn/', { HTTPS_PROXY: ' p.mn:3128 ' }, 'p.mn:3128'],
    ['https://a.mn/', { HTTPS_PROXY: 'me:pass@p.mn:3128' }, 'p.mn:3128'],
    ['https://a.mn/', { HTTPS_PROXY: 'https://p.mn' }, 'p.mn'],
    ['https://a.mn/', { HTTPS_PROXY: 'http://p:1', no_proxy: 'b.mn', NO_PROXY: 'a.mn' }, 'p:1'],
  ])('of %s with %j is %s', (url, env, proxy) => expect(found(url, env)).toBe(proxy));

  it.each([
    'http://127.0.0.1/',
    'http://127.9.9.9/',
    'https://localhost/',
    'https://localhost./',
    'https://sms.localhost/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://0.0.0.0/',
  ])('is never used for this machine: %s', (url) => {
    expect(found(url, { ALL_PROXY: 'http://p:1' })).toBeNull();
  });

  it.each(['socks5h://p:1080', 'SOCKS://p:1080', 'socks4a://me:secret@p'])('cannot be %s', (address) => {
    for (const variable of ['ALL_PROXY', 'https_proxy']) {
      expect(error(variable, address)).toBeInstanceOf(UnusableProxy);
      expect(String(error(variable, address))).toContain(`${variable} names a SOCKS proxy`);
      expect(String(error(variable, address))).not.toContain('secret');
    }
  });

  it.each(['ftp://p', 'http://', '://', 'http://me:pa#ss@p', 'http://me:%zz@p'])(
    'cannot be %s, and nothing of it is shown',
    (address) => {
      expect(error('ALL_PROXY', address)).toBeInstanceOf(UnusableProxy);
      expect(String(error('ALL_PROXY', address))).not.toContain(address);
    },
  );
});

describe('NO_PROXY', () => {
  /** The first ones as curl 7.88 answers; the others are of other programs, whose lists people bring along. */
  it.each([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.9.9.9/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', false],
    ['10.0.0.0/33', '10.1.2.3', false],
    ['10.0.0.0/', '10.0.0.0', false],
    ['172.16.0.0/12', '172.31.255.255', true],
    ['172.16.0.0/12', '172.32.0.0', false],
    ['*', 'a.mn', true],
    ['.a.mn', 'a.mn', true],
    ['.a.mn', 'x.a.mn', true],
    ['a.mn', 'x.a.mn', true],
    ['a.mn', 'xa.mn', false],
    ['a.mn.', 'a.mn', true],
    ['a.mn', 'a.mn.', true],
    ['b.mn a.mn', 'a.mn', true],
    ['b.mn,\ta.mn ,', 'a.mn', true],
    ['A.MN', 'a.mn', true],
    ['::1', '[::1]', true],
    ['fd00::1', '[fd00::1]', true],
    ['192.168.', '192.168.1.1', false],
    ['192.168', '10.0.192.168', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['0.1', '10.0.0.1', false],
    ['банк.мон', 'банк.мон', true],
    ['xn--80ab2al.xn--l1ac', 'банк.мн', true],
    ['', 'a.mn', false],
    [',', 'a.mn', false],

    ['0.0.0.0/0', '10.1.2.3', true],
    ['b.mn, *', 'a.mn', true],
    [' * ', 'a.mn', true],
    ['*.a.mn', 'x.a.mn', true],
    ['*.мн', 'банк.мн', true],
    ['10.*', '10.0.0.1', true],
    ['10.*', '110.0.0.1', false],
    ['sms-*.a.mn', 'sms-1.a.mn', true],
    ['sms-*.a.mn', 'mail-1.a.mn', false],
    ['a*a.mn', 'a.mn', false],
    ['a.mn:443', 'a.mn', true],
    ['a.mn:8443', 'a.mn', false],
    ['a.mn:8443', 'a.mn:8443', true],
    ['10.0.0.0/8:443', '10.0.0.1', true],
    ['[fd00::1]', '[fd00::1]', true],
    ['[fd00::1]:8443', '[fd00::1]', false],
    ['[fd00::1]:8443', '[fd00::1]:8443', true],
    ['fd00::/8', '[fd12::1]', true],
    ['[fd00::]/8', '[fd12::1]', true],
    ['fd00::/8', '[fe00::1]', false],
    ['fd00::/129', '[fd00::1]', false],
    ['fd00:0:0:0:0:0:0:1', '[fd00::1]', true],
    ['10.0.0.0/8', '[::ffff:10.0.0.1]', true],
    ['a.mn/8', 'a.mn', false],
  ])('%j excepts %s: %s', (list, host, excepted) => {
    const env = { HTTPS_PROXY: 'http://p:1', NO_PROXY: list };
    expect(found(`https://${host}/`, env)).toBe(excepted ? null : 'p:1');
  });
});
