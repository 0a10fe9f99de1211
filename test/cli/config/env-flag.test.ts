import { describe, expect, it } from 'vitest';
import { envFlag } from '../../../src/cli/config/env-flag.js';
import { smsResult } from '../../support/resources.js';
import { fakeService, refusal, run, testKey } from '../../support/run.js';

describe('a yes or no in the environment', () => {
  it.each(['1', 'true', 'yes', 'on', 'TRUE', ' Yes '])('%j is yes', (word) =>
    expect(envFlag({ A: word }, 'A')).toBe(true),
  );
  it.each([undefined, '', '0', 'false', 'no', 'off', 'OFF'])('%j is no', (word) =>
    expect(envFlag({ A: word }, 'A')).toBe(false),
  );
});

const send = 'sms send 99112233 hi';
const real = () => fakeService(() => ({ body: smsResult({ balance: 5 }) }));
const env = (more: object) => ({ URTUU_API_KEY: testKey, ...more });

describe('URTUU_SANDBOX', () => {
  it.each(['false', 'no', 'off', '0', ''])(
    '%j sends for real, and says nothing of a sandbox',
    async (word) => {
      const { fetch, requests } = real();
      const { code, stdout, stderr } = await run(`${send} --json`, {
        env: env({ URTUU_SANDBOX: word }),
        fetch,
      });
      expect({ code, stderr, requests: requests.length }).toEqual({ code: 0, stderr: '', requests: 1 });
      expect(JSON.parse(stdout)).not.toHaveProperty('sandbox');
    },
  );

  it.each([send, 'balance', 'sms send 99112233 hi --json'])(
    'is refused where it is neither on nor off, and nothing is sent: %s',
    async (line) => {
      const { fetch, requests } = real();
      const { code, stderr } = await run(line, { env: env({ URTUU_SANDBOX: 'maybe' }), fetch });
      expect({ code, requests: requests.length }).toEqual({ code: 2, requests: 0 });
      expect(stderr).toContain('URTUU_SANDBOX is neither on nor off');
    },
  );

  it.each([
    [send, /Sandbox/],
    [`${send} --quiet`, /Sandbox/],
    [`${send} --json`, /Sandbox/],
    ['email send a@example.mn --subject s --text t --quiet', /Sandbox/],
    ['verify create 99112233 --quiet', /Sandbox/],
    ['balance', /^$/],
    ['sms send 99112233 hi --dry-run', /^$/],
  ])('on says at a send that nobody receives it: %s', async (line, said) => {
    const { code, stderr } = await run(line, { env: env({ URTUU_SANDBOX: 'yes' }) });
    expect(code).toBe(0);
    expect(stderr).toMatch(said);
  });
});

describe('--sandbox', () => {
  it('says it once, and with --quiet not at all', async () => {
    const { stderr } = await run(`${send} --sandbox`, { env: {} });
    expect(stderr.match(/Sandbox/g)).toHaveLength(1);
    expect(await run(`${send} --sandbox --quiet`, { env: {} })).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    send,
    'email send a@example.mn --subject s --text t',
    'verify create 99112233',
    'verify create a@example.mn',
  ])('is in what programs read, and standard error stays theirs: %s', async (line) => {
    const json = await run(`${line} --sandbox --json`, { env: {} });
    expect(json).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(json.stdout)).toMatchObject({ sandbox: true });
  });

  it('is in an error, too', async () => {
    const { stderr } = await run('sms send 99000001 hi --max-retries 0 --sandbox --json', { env: {} });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'provider_failed', sandbox: true } });
    const { fetch } = fakeService(() => refusal(502, 'provider_failed'));
    const failed = await run(`${send} --max-retries 0 --json`, { fetch });
    expect(JSON.parse(failed.stderr).error).not.toHaveProperty('sandbox');
  });
});

describe('URTUU_ALLOW_HTTP', () => {
  const line = `${send} --base-url http://sms.example.mn/v1`;

  it.each([
    ['1', 0, 1],
    ['on', 0, 1],
    ['0', 2, 0],
    ['false', 2, 0],
    ['', 2, 0],
    ['perhaps', 2, 0],
  ])('%j: exit %i', async (word, code, sent) => {
    const { fetch, requests } = real();
    expect(await run(line, { env: env({ URTUU_ALLOW_HTTP: word }), fetch })).toMatchObject({ code });
    expect(requests).toHaveLength(sent);
  });
});
