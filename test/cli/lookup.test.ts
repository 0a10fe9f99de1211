import { describe, expect, it } from 'vitest';
import { smsMessage } from '../support/resources.js';
import { fakeService, type Reply, refusal, run } from '../support/run.js';
import { saying } from '../support/saying.js';

const message = (id: string, status = 'sent') => ({ ...smsMessage({ id }), status });
const batch = (id: string, extra = {}) => ({
  id,
  status: 'completed',
  channel: 'sms',
  total: 2,
  sent: 2,
  failed: 0,
  credits: 20,
  created_at: '2026-11-21T00:00:00.000Z',
  completed_at: '2026-11-21T00:00:01.000Z',
  ...extra,
});

/** Knows every id but those that start with `no`. */
const service = (status?: (id: string) => string) =>
  fakeService(({ path }): Reply => {
    const id = path.split('/')[2] ?? '';
    return id.startsWith('no') ? refusal(404, 'not_found') : { body: message(id, status?.(id)) };
  });
const ids = (stdout: string) => JSON.parse(stdout).map(({ id }: { id: string }) => id);

describe('urtuu messages get', () => {
  it('shows one as an object and several as an array, in the order of the ids', async () => {
    expect(JSON.parse((await run('messages get a --json', service())).stdout)).toEqual(message('a'));
    expect(ids((await run('messages get c a b --json', service())).stdout)).toEqual(['c', 'a', 'b']);
  });

  it('takes ids from standard input, a file and a column of a CSV', async () => {
    const stdin = 'b\n\n c \n';
    expect(ids((await run('messages get a - --json', { ...service(), stdin })).stdout)).toEqual([
      'a',
      'b',
      'c',
    ]);
    const lines = { ...service(), stdin: 'x\t\r\ny\r\n' };
    expect(ids((await run('messages get --from-file - --json', lines)).stdout)).toEqual(['x', 'y']);
    const csv = { ...service(), stdin: '\ufeffline;message_id\r\n1;"x"\r\n2;\r\n3;y\r\n' };
    const { stdout } = await run('messages get --from-file - --column message_id --json', csv);
    expect(ids(stdout)).toEqual(['x', 'y']);
    const wrong = { ...service(), stdin: 'line,message_id\n1,x\n' };
    expect(await run('messages get --from-file - --column id', wrong)).toMatchObject({ code: 8 });
  });

  it.each(['line,message_id\n1,x\n', 'x;99112233\n', 'x\t99112233\n'])(
    'asks nobody for the lines of a CSV file without --column: %j',
    async (stdin) => {
      const { requests, ...rest } = service();
      const { code, stderr } = await run('messages get --from-file -', { ...rest, stdin });
      expect({ code, asked: requests.length }).toEqual({ code: 8, asked: 0 });
      expect(stderr).toContain('Name the one with the ids: --column id.');
    },
  );

  it('is a usage error without ids, an input error with none in the file', async () => {
    expect(await run('messages get')).toMatchObject({ code: 2 });
    expect(await run('messages get a --column x')).toMatchObject({ code: 2 });
    expect(await run('messages get -')).toMatchObject({ code: 8 });
  });

  it('says not_found in the place of a missing one and ends with 3; with 12 when none is there', async () => {
    const some = await run('messages get a no-1 b --json', service());
    expect(some.code).toBe(3);
    expect(JSON.parse(some.stdout)[1]).toEqual({ id: 'no-1', status: 'not_found' });
    expect(ids(some.stdout)).toEqual(['a', 'no-1', 'b']);
    const none = await run('messages get no-1 no-2 -o ndjson', service());
    expect(none.code).toBe(12);
    expect(none.stdout.trim().split('\n')).toHaveLength(2);
    expect(await run('messages get no-1', service())).toMatchObject({ code: 12, stdout: '' });
  });

  it('slows down when the service says that others use the allowance', async () => {
    const { fetch } = fakeService(({ path }) => ({
      body: message(path.split('/')[2] ?? ''),
      headers: { 'X-RateLimit-Limit': '10', 'X-RateLimit-Remaining': '0' },
    }));
    const many = Array.from({ length: 21 }, (_, index) => `m${index}`);
    expect((await run(`messages get ${many.join(' ')} --json`, { fetch })).slept).toBeGreaterThanOrEqual(
      1_000,
    );
  });

  it('shows what it has when a read fails on the way', async () => {
    const { fetch } = fakeService(({ path }) =>
      path.endsWith('/c') ? refusal(401, 'unauthorized') : { body: message(path.split('/')[2] ?? '') },
    );
    for (const format of ['json', 'ndjson', 'csv', 'table']) {
      const { code, stdout } = await run(`messages get a b c d -o ${format}`, { fetch });
      expect(code).toBe(4);
      expect(stdout).toMatch(/\ba\b[\s\S]*\bb\b/);
      expect(stdout).not.toMatch(/\bd\b\W/);
    }
  });

  it('waits until all are final: 9 when all failed, 3 when some did, 14 when time is over', async () => {
    const finalAfter = (reads: number, status: string) => {
      const seen = new Map<string, number>();
      return service((id) => {
        seen.set(id, (seen.get(id) ?? 0) + 1);
        if ((seen.get(id) ?? 0) <= reads) return 'queued';
        return id.startsWith('bad') ? 'failed' : status;
      });
    };
    expect(await run('messages get a b --wait', finalAfter(2, 'sent'))).toMatchObject({ code: 0 });
    expect(await run('messages get bad1 bad2 --wait', finalAfter(2, 'sent'))).toMatchObject({ code: 9 });
    expect(await run('messages get a bad1 --wait', finalAfter(2, 'sent'))).toMatchObject({ code: 3 });
    // Nothing is known of a missing one.
    expect(await run('messages get bad1 no-1 --wait', finalAfter(2, 'sent'))).toMatchObject({ code: 3 });
    expect(await run('messages get a bad1 --wait --wait-timeout 2s', finalAfter(99, 'sent'))).toMatchObject(
      saying(14, 'urtuu: 2 messages are not final yet\n'),
    );
    expect(await run('messages get bad1', finalAfter(0, 'sent'))).toMatchObject({ code: 0 });
  });
});

describe('messages of which nobody knows whether they arrived', () => {
  const reads = fakeService(({ path }): Reply => {
    const [, , id = '', list] = path.split('/');
    if (list !== undefined) return refusal(404, 'not_found');
    const delivery = id.startsWith('lost') ? ('unknown' as const) : null;
    return { body: path.startsWith('/batches') ? batch(id, { unknown: 1 }) : { ...message(id), delivery } };
  });

  it.each([
    ['messages get lost', 3, 'the message is sent, and may not have arrived'],
    ['messages get a lost1 lost2', 3, '2 messages are sent, and may not have arrived'],
    ['messages get a b', 0, ''],
    ['batches get b', 3, 'the message is sent, and may not have arrived'],
    ['batches get b c --messages', 3, '2 messages are sent, and may not have arrived'],
  ])('are exit 3 with --wait alone: %s', async (line, exit, said) => {
    expect(await run(`${line} --wait`, reads)).toMatchObject(saying(exit, said));
    if (!line.includes('--messages')) expect(await run(line, reads)).toMatchObject({ code: 0 });
  });

  it('are a figure of a batch, null where the service does not say it', async () => {
    expect(JSON.parse((await run('batches get b --json', reads)).stdout)).toMatchObject({
      sent: 2,
      unknown: 1,
    });
    const other = fakeService(() => ({ body: batch('b') }));
    expect(JSON.parse((await run('batches get b --json', other)).stdout)).toMatchObject({ unknown: null });
    expect((await run('batches get b', other)).stdout).not.toContain('unknown');
  });
});

const blocked = () =>
  fakeService(() => ({ ...refusal(429, 'rate_limited'), headers: { 'Retry-After': '3000' } }));

describe('waiting for what was never read', () => {
  it.each(['messages get a', 'messages get a b', 'batches get a'])(
    'is 14, and claims nothing of it: %s',
    async (line) => {
      const { code, stderr } = await run(`${line} --wait --wait-timeout 3s`, blocked());
      expect(code).toBe(14);
      expect(stderr).toContain('could not be read in time');
      expect(stderr).not.toContain('accepted');
    },
  );
});

describe('--wait-timeout', () => {
  it.each([
    'messages get a',
    'batches get a',
    'sms send 99112233 Hi',
    'email send bat@example.mn --subject Hi --text Hi',
  ])('without --wait is a usage error before any request: %s', async (line) => {
    const untouched = blocked();
    const { code, stderr } = await run(`${line} --wait-timeout 3s`, untouched);
    expect({ code, requests: untouched.requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain('--wait-timeout needs --wait\n  Add --wait.\n');
  });
});

describe('urtuu batches get', () => {
  it('waits until completed: 3 when some of its messages failed, 9 when all did', async () => {
    const figures = (sent: number, failed: number) =>
      fakeService((_, index) => ({
        body: index < 2 ? batch('b', { status: 'processing', sent: 0 }) : batch('b', { sent, failed }),
      }));
    expect(await run('batches get b --wait', figures(2, 0))).toMatchObject({ code: 0 });
    expect(await run('batches get b --wait', figures(1, 1))).toMatchObject({ code: 3 });
    expect(await run('batches get b --wait', figures(0, 2))).toMatchObject({ code: 9 });
  });

  it.each([
    [1, 0, '1 of 2'],
    [0, 0, '0 of 2'],
    [0, 1, '1 of 2'],
    [2, 1, '3 of 2'],
  ])(
    'is 6 when a completed one accounts for others than its recipients: %d, %d',
    async (sent, failed, said) => {
      const { fetch } = fakeService(({ path }) =>
        path.includes('/messages')
          ? { body: { data: [], next: null } }
          : { body: batch('b', { sent, failed }) },
      );
      for (const line of [
        'batches get b --wait',
        'batches get b b --wait',
        'batches get b --messages --wait',
      ]) {
        expect(await run(line, { fetch })).toMatchObject(saying(6, said));
      }
      expect(await run('batches get b', { fetch })).toMatchObject({ code: 0 });
    },
  );

  it.each(['json', 'csv', 'table'])('ends where the pages of its messages go round: %s', async (format) => {
    const { fetch, requests } = fakeService(({ path }) =>
      path.includes('/messages')
        ? { body: { data: [message('m1')], next: path.includes('after=m1') ? 'm2' : 'm1' } }
        : { body: batch('b') },
    );
    const { code, stdout, stderr } = await run(`batches get b --messages -o ${format}`, { fetch });
    expect(code).toBe(5);
    expect(stdout).toContain('m1');
    expect(stderr).toContain('the same page');
    expect(requests.length).toBeLessThan(7);
  });

  const pages = fakeService(({ path }) => {
    if (!path.includes('/messages')) return { body: batch('b') };
    if (path.includes('limit=1') && !path.includes('limit=1000')) return { body: { data: [], next: null } };
    return path.includes('after=m2')
      ? { body: { data: [message('m3', 'failed')], next: null } }
      : { body: { data: [message('m1'), message('m2')], next: 'm2' } };
  });

  it('lists the messages of a batch over its pages', async () => {
    const { code, stdout } = await run('batches get b --messages --json', pages);
    expect(code).toBe(0);
    expect(ids(stdout)).toEqual(['m1', 'm2', 'm3']);
    const chosen = await run('batches get b --messages -o csv --columns id,status', pages);
    expect(chosen.stdout).toBe('id,status\r\nm1,sent\r\nm2,sent\r\nm3,failed\r\n');
  });

  it('gives the figures where the service cannot list', async () => {
    const { fetch } = fakeService(({ path }) =>
      path.includes('/messages') ? refusal(404, 'not_found') : { body: batch('b') },
    );
    const { code, stdout, stderr } = await run('batches get b --messages --json', { fetch });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'b', total: 2 });
    expect(stderr).toContain('does not list');
  });

  it('ends as the waiting did where the service cannot list', async () => {
    const figures = (sent: number, failed: number, status = 'completed') =>
      fakeService(({ path }) =>
        path.includes('/messages')
          ? refusal(404, 'not_found')
          : { body: batch('b', { sent, failed, status }) },
      );
    const line = 'batches get b --messages --wait --wait-timeout 2s';
    expect(await run(line, figures(2, 0))).toMatchObject({ code: 0 });
    expect(await run(line, figures(1, 1))).toMatchObject({ code: 3 });
    expect(await run(line, figures(0, 2))).toMatchObject({ code: 9 });
    expect(await run(line, figures(1, 0, 'processing'))).toMatchObject({ code: 14 });
  });

  it('is 12 when there is no such batch', async () => {
    const { fetch } = fakeService(() => refusal(404, 'not_found'));
    expect(await run('batches get b --messages', { fetch })).toMatchObject({ code: 12 });
  });
});
