import { expect, it } from 'vitest';
import { readNetworks } from '../../../../src/cli/commands/serve/listeners.js';
import { run } from '../../../support/run.js';

it('--trusted-proxy takes addresses and networks, separated by commas or repeated', () => {
  expect(readNetworks('10.0.0.0/8, 192.0.2.1', readNetworks('::1'))).toEqual([
    { address: '::1', prefix: 128 },
    { address: '10.0.0.0', prefix: 8 },
    { address: '192.0.2.1', prefix: 32 },
  ]);
});

it.each([
  '',
  'nginx',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '::1/129',
  '10.0.0/8',
  'fe80::1%eth0',
  '10.0.0.1,',
])('--trusted-proxy %j is refused', async (written) => {
  const { code, stderr } = await run(`serve --log requests --trusted-proxy '${written}'`);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('is not an address or a network, such as 10.0.0.0/8'),
  ]);
});

it('--trusted-proxy without a log of requests is refused', async () => {
  const { code, stderr } = await run('serve --trusted-proxy 10.0.0.1');
  expect([code, stderr]).toEqual([2, expect.stringContaining('Add --log requests.')]);
});
