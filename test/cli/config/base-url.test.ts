import { expect, it } from 'vitest';
import { fakeService, run, testKey } from '../../support/run.js';

const service = fakeService(() => ({ body: { balance: 5 } }));

it.each([
  ['ftp://sms.example.mn/v1', 'is not an http or https address', 'Example: https://sms.example.mn/v1'],
  ['sms.example.mn/v1', 'is not an http or https address', 'Example: https://sms.example.mn/v1'],
  [
    'https://sms.example.mn/v1?token=s3cret',
    'has a query',
    'Leave it out. Example: https://sms.example.mn/v1',
  ],
  ['https://sms.example.mn/v1?', 'has a query', 'Leave it out.'],
  ['https://sms.example.mn/v1#s3cret', 'has a fragment', 'Leave it out.'],
  ['https://bat:s3cret@sms.example.mn/v1?a=b', 'has a user or password', 'Leave it out: a service needs'],
  ['https://s3cret@sms.example.mn/v1', 'has a user or password', 'Leave it out: a service needs'],
  [' https://sms.example.mn/v1', 'contains a blank or an invisible character', 'Leave it out.'],
  ['ht\ttps://sms.example.mn/v1\r', 'contains a blank or an invisible character', 'Leave it out.'],
  ['https://sms\u200b.example.mn/v1\u00a0', 'contains a blank or an invisible character', 'Leave it out.'],
])('%s is refused for what is wrong with it', async (base, what, hint) => {
  for (const [line, env] of [
    [`balance --base-url '${base}'`, {}],
    ['balance', { URTUU_BASE_URL: base }],
    [`login --api-key-file - --base-url '${base}'`, {}],
  ] as const) {
    const setting = { ...service, env: { URTUU_API_KEY: testKey, ...env }, stdin: testKey };
    const { code, stderr } = await run(line, setting);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`the base URL ${what}\n  ${hint}`)]);
    expect(stderr).not.toContain('s3cret');
  }
  expect(service.requests).toEqual([]);
});
