import { describe, expect, it } from 'vitest';
import pkg from '../../../package.json' with { type: 'json' };
import type { AppInfo } from '../../../src/client/index.js';
import { clientWith } from '../../support/client.js';
import { json, Loopback } from '../../support/loopback.js';

const own = `urtuu/${pkg.version}`;

describe('the User-Agent header', () => {
  it.each<[AppInfo | undefined, string]>([
    [undefined, own],
    [{ name: 'pickup-notices' }, `${own} pickup-notices`],
    [{ name: 'pickup-notices', version: '1.4.0' }, `${own} pickup-notices/1.4.0`],
    [
      { name: 'pickup-notices', version: '1.4.0', url: 'https://shop.example.mn' },
      `${own} pickup-notices/1.4.0 (https://shop.example.mn)`,
    ],
    [{ name: 'Shop', version: undefined, url: 'mailto:it@example.mn' }, `${own} Shop (mailto:it@example.mn)`],
  ])('with appInfo %j', async (appInfo, expected) => {
    await using server = await Loopback.listen((_, response) => json(response, 200, { balance: 1 }));
    await clientWith({ baseUrl: server.origin, appInfo }).balance.get();
    expect(server.requests[0]?.headers['user-agent']).toBe(expected);
  });

  it.each<[unknown, string]>([
    ['shop', 'Options must be an object'],
    [null, 'Options must be an object'],
    [{}, 'appInfo.name must be a string'],
    [{ name: '' }, 'appInfo.name must be 1 to 200 printable ASCII characters'],
    [{ name: ' ' }, 'appInfo.name must be 1 to 200 printable ASCII characters'],
    [{ name: 'дэлгүүр' }, 'appInfo.name must be 1 to 200 printable ASCII characters'],
    [{ name: 'a\r\nX-Evil: 1' }, 'appInfo.name must be 1 to 200 printable ASCII characters'],
    [{ name: 'a', version: 2 }, 'appInfo.version must be a string'],
    [{ name: 'a', version: 'a'.repeat(201) }, 'appInfo.version must be 1 to 200 printable ASCII characters'],
    [{ name: 'a', url: 'x\n' }, 'appInfo.url must be 1 to 200 printable ASCII characters'],
    [{ name: 'a', uri: 'x' }, 'Unknown option "uri"; valid options: name, version, url'],
  ])('appInfo %j is refused', (appInfo, message) => {
    expect(() => clientWith({ appInfo: appInfo as never })).toThrow(message);
  });
});
