import { describe, expect, it } from 'vitest';
import { fakeService, refusal, run } from '../support/run.js';

const rich = () => fakeService(() => ({ body: { balance: 12340 } }));

describe('urtuu balance', () => {
  it('shows the balance to people and programs', async () => {
    expect(await run('balance', { fetch: rich().fetch })).toMatchObject({
      code: 0,
      stdout: 'balance  12,340\n',
      stderr: '',
    });
    const json = await run('balance --json', { fetch: rich().fetch });
    expect(JSON.parse(json.stdout)).toEqual({ balance: 12340 });
    expect(await run('balance -o csv', { fetch: rich().fetch })).toMatchObject({
      stdout: 'balance\r\n12340\r\n',
    });
  });

  it('ends with 7 below --min, and still shows it', async () => {
    const result = await run('balance --min 20000', { fetch: rich().fetch });
    expect(result).toMatchObject({ code: 7, stdout: 'balance  12,340\n' });
    expect(result.stderr).toBe(
      'urtuu: the balance of 12,340 credits is below 20,000\n  Add credits to the project.\n',
    );
    expect(await run('balance --min 12340', { fetch: rich().fetch })).toMatchObject({ code: 0 });
  });

  it('takes global options before and after its name', async () => {
    for (const line of ['--json balance', 'balance --json', '-o json balance']) {
      expect(JSON.parse((await run(line, { fetch: rich().fetch })).stdout)).toEqual({ balance: 12340 });
    }
  });

  it('tells errors in one line and one hint, or as JSON', async () => {
    const { fetch } = fakeService(() => ({
      ...refusal(401, 'unauthorized'),
      headers: { 'X-Request-Id': 'r-1' },
    }));
    const people = await run('balance', { fetch });
    expect(people).toMatchObject({ code: 4, stdout: '' });
    expect(people.stderr.split('\n')).toHaveLength(3);
    const program = await run('balance --json', { fetch });
    expect(JSON.parse(program.stderr)).toMatchObject({
      error: { code: 'unauthorized', exit: 4, retryable: false, status: 401, request_id: 'r-1' },
    });
  });

  it('lists its columns without a request', async () => {
    const service = rich();
    expect(await run('balance --columns', service)).toMatchObject({ code: 0, stdout: 'balance\n' });
    expect(await run('balance --columns nope', service)).toMatchObject({ code: 2, stdout: '' });
    expect(service.requests).toEqual([]);
  });

  it('is a usage error with an unknown option or a bad value', async () => {
    expect(await run('balance --mni 3')).toMatchObject({ code: 2 });
    const bad = await run('balance --min many --json');
    expect(bad.code).toBe(2);
    expect(JSON.parse(bad.stderr).error).toMatchObject({ code: 'usage', exit: 2 });
    expect(await run('balence')).toMatchObject({ code: 2 });
  });
});
