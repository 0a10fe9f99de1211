import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { limitedClient } from '../../../src/cli/rate-limit/limited-client.js';
import type { RateLimiter } from '../../../src/cli/rate-limit/rate-limiter.js';
import type { Desk } from '../../support/desk.js';
import { smsMessage } from '../../support/resources.js';
import { fakeService, type Reply, refusal, testKey } from '../../support/run.js';
import { constant, desk, figures, people } from '../commands/bulk/desks.js';

/** The file of a bucket of the desk's project. */
function bucketFile({ home }: Desk, kind: 'sending' | 'reading'): string {
  const folder = join(home, '.local/state/urtuu/rate-limit');
  return join(folder, readdirSync(folder)[0] ?? '', `${kind}.json`);
}

/** As another command leaves it whose request was answered with a Retry-After of so many seconds. */
async function block(here: Desk, kind: 'sending' | 'reading', seconds: number): Promise<void> {
  await here.run(kind === 'reading' ? 'balance' : "sms send 99112233 'one'");
  const file = bucketFile(here, kind);
  const bucket = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, `${JSON.stringify({ ...bucket, blocked: seconds * 1_000 }).padEnd(255)}\n`);
}

const tooMany = (seconds: number): Reply => ({
  ...refusal(429, 'rate_limited'),
  headers: { 'Retry-After': String(seconds) },
});

describe('a single request', () => {
  it.each([
    ['sending', "sms send 99112233 'two'"],
    ['sending', "email send a@example.mn --subject s --text 'two'"],
    ['reading', 'balance'],
    ['reading', 'pricing'],
  ] as const)('waits half a minute for its token of %s, says so, and goes ahead: %s', async (kind, line) => {
    const here = desk([]);
    await block(here, kind, 3_000);
    const first = await here.run(line);
    expect(first).toMatchObject({ code: 0, slept: 30_000 });
    expect(first.stderr).toContain('Waiting for the rate limit, up to 29 s.');
    // It was answered, so there is no block any more.
    const next = await here.run(line);
    expect(next.code).toBe(0);
    expect(next.slept).toBeLessThan(1_000);
    expect(next.stderr).not.toContain('Waiting');
  });

  it('is told by the service that it is too early, exit 5, and nothing is in doubt', async () => {
    const here = desk([]);
    await block(here, 'sending', 3_000);
    here.project.options.instead = ({ method }) => (method === 'POST' ? tooMany(2_970) : undefined);
    const { code, slept, stderr } = await here.run("sms send 99112233 'two' --json");
    expect([code, slept]).toEqual([5, 30_000]);
    expect(stderr).toContain('"retry_after":2970');
  });

  it('is not sent when the person stops it while it waits', async () => {
    const here = desk([]);
    await block(here, 'sending', 3_000);
    const before = here.project.sends.length;
    const { code } = await here.run("sms send 99112233 'two'", {
      onSignal(listener) {
        setTimeout(() => listener('SIGINT'), 0);
        return () => {};
      },
    });
    expect(code).toBe('SIGINT');
    expect(here.project.sends).toHaveLength(before);
  });

  it('needs no state folder', async () => {
    const { fetch } = fakeService(() => ({ body: { balance: 1 } }));
    const env = { URTUU_API_KEY: testKey, XDG_STATE_HOME: '/dev/null/state' };
    expect(await desk([]).run('balance', { env, fetch })).toMatchObject({ code: 0, slept: 0 });
  });

  it('shares its bucket with commands of the same key at the same place only', async () => {
    const here = desk([]);
    const with_ = (key: string, base: string) => ({
      env: { URTUU_API_KEY: key, URTUU_BASE_URL: base },
    });
    for (const setting of [
      with_(testKey, 'https://a.example/v1'),
      with_(testKey, 'https://a.example/v1'),
      with_(`${testKey}b`, 'https://a.example/v1'),
      with_(testKey, 'https://b.example/v1'),
    ]) {
      await here.run('balance', setting);
    }
    const names = readdirSync(join(here.home, '.local/state/urtuu/rate-limit'));
    expect(names).toHaveLength(3);
    expect(names.join()).not.toContain(testKey.slice(-8));
  });
});

describe('every attempt of the client', () => {
  it('takes a token of its kind first, verification counting as sending, and waits by the clock', async () => {
    const taken: string[] = [];
    const sleep = vi.fn(async () => {});
    const clock = { now: () => 0, elapsed: () => 0, sleep, after: () => () => {} };
    const limiter = { closed: false, take: async (kind: string) => taken.push(kind) > 0 };
    const { fetch } = fakeService((_, index) => {
      taken.push('attempt');
      const status = index >= 3 ? 'verified' : 'sent';
      return index === 0 ? refusal(503, 'unavailable') : { body: { ...smsMessage(), status } };
    });
    const options = { baseUrl: 'http://127.0.0.1/v1', fetch };
    const client = limitedClient(
      testKey,
      options,
      limiter as unknown as RateLimiter,
      clock,
      () => new AbortController().signal,
    );
    await client.messages.get('a');
    expect(taken.splice(0)).toEqual(['reading', 'attempt', 'reading', 'attempt']);
    expect(sleep).toHaveBeenCalledOnce();
    await client.sms.send({ to: '99112233', text: 'x' });
    await client.verify.create({ to: '99112233' }).catch(() => {});
    await client.verify.check(smsMessage().id, { code: '123456' });
    expect(taken).toEqual(['sending', 'attempt', 'sending', 'attempt', 'sending', 'attempt']);
  });
});

describe('--wait-timeout', () => {
  const lines: [string, string][] = [
    ['messages get', 'messages get a --wait --wait-timeout 5s'],
    ['several of them', 'messages get a b c --wait --wait-timeout 5s'],
    ['batches get', 'batches get a --wait --wait-timeout 5s'],
    ['a list of messages', 'batches get a --messages --wait --wait-timeout 5s'],
  ];

  it.each(lines)('is kept by %s where the service says 3000 s, exit 14', async (_, line) => {
    const here = desk([]);
    here.project.options.instead = () => tooMany(3_000);
    const { code, slept } = await here.run(line);
    expect(code).toBe(14);
    expect(slept).toBeLessThanOrEqual(5_000);
  });

  it.each(lines)('is kept by %s where another command was told to wait 3000 s', async (_, line) => {
    const here = desk([]);
    await block(here, 'reading', 3_000);
    const { code, slept, stderr } = await here.run(line);
    expect(code).toBe(14);
    expect(slept).toBeLessThanOrEqual(6_000);
    expect(stderr).toContain('Waiting for the rate limit');
  });

  it('is kept by a send that was accepted, which is shown', async () => {
    const here = desk([]);
    await block(here, 'reading', 3_000);
    const line = "email send a@example.mn --subject s --text 'two' --wait --wait-timeout 5s --json";
    const { code, stdout, slept } = await here.run(line);
    expect(code).toBe(14);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'queued' });
    expect(slept).toBeLessThanOrEqual(6_000);
  });

  it('is kept by a job, whose sends go on', async () => {
    const here = desk(people(4));
    here.project.options.instead = ({ path }) => (path.startsWith('/batches/') ? tooMany(3_000) : undefined);
    const { code, stdout, slept } = await here.run(`${constant} --wait --wait-timeout 5s --json`);
    expect(code).toBe(14);
    expect(figures(stdout)).toMatchObject({ accepted: 4, in_doubt: 0 });
    expect(slept).toBeLessThanOrEqual(7_000);
  });
});

describe('--max-wait', () => {
  it('bounds how long a job waits where another command was told to wait 3000 s, exit 5', async () => {
    const here = desk(people(4));
    await block(here, 'sending', 3_000);
    const sends = here.project.sends.length;
    const { code, stdout, stderr, slept } = await here.run(`${constant} --max-wait 5s --json`);
    expect(code).toBe(5);
    expect(slept).toBeLessThanOrEqual(6_000);
    expect(figures(stdout)).toMatchObject({ accepted: 0, pending: 4, in_doubt: 0 });
    expect(stderr).toContain('urtuu jobs resume july');
    expect(here.project.sends).toHaveLength(sends);
  });
});
