import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { smsMessage } from '../support/resources.js';
import {
  Captured,
  type FakeService,
  fakeService,
  type Reply,
  type Request,
  refusal,
  run,
} from '../support/run.js';
import { CommandHome } from './command-home.js';

const home = new CommandHome();
const { here } = home;
beforeAll(async () => {
  await home.open();
  await here('sms send 99000001 hi --max-retries 0');
});
afterAll(() => home.close());

const lines = (text: string) => text.trimEnd().split(/\r?\n/);

it('warns a program of a list that ends at the limit that it did not choose', async () => {
  const data = Array.from({ length: 101 }, () => smsMessage());
  const { stdout, stderr } = await run(
    'messages list --json',
    fakeService(() => ({ body: { data, next: null } })),
  );
  expect(JSON.parse(stdout)).toHaveLength(100);
  expect(JSON.parse(stderr)).toEqual({ warnings: ['Showing the newest 100; raise --limit to see more.'] });
});

describe('urtuu messages list', () => {
  it('shows the newest first, in every format with the same fields', async () => {
    const records = await home.json('messages list');
    expect(records.map(({ to }: { to: string }) => to)).toEqual([
      '99000001',
      '99119002',
      '99119001',
      '88001122',
      '99112233',
    ]);
    const [{ id }] = records;
    expect(await home.json(`messages get ${id}`)).toEqual(records[0]);
    const { stdout } = await here('messages list -o csv');
    expect(lines(stdout)[0]).toBe(Object.keys(records[0]).join(','));
    const ndjson = await here('messages list -o ndjson');
    expect(lines(ndjson.stdout).map((line) => JSON.parse(line))).toEqual(records);
  });

  it.each([
    ['--to 9911-2233', ['99112233']],
    ['--to +97699112233 --channel email', []],
    ['--status failed', ['99000001']],
    ['--batch BATCH', ['99119002', '99119001']],
    ['--since 1h --limit 1', ['99000001']],
    ['--until 2001-01-01', []],
    ['--since 2001-01-01T00:00 --status failed', ['99000001']],
    ['--delivery bounced', []],
  ])('filters with %s', async (filter, expected) => {
    const { code, stdout } = await here(
      `messages list ${filter.replace('BATCH', home.known.batch)} -o csv --columns to --no-header`,
      { clock: { now: Date.now } },
    );
    expect(code).toBe(0);
    expect(
      lines(stdout)
        .filter(Boolean)
        .map((line) => line.trim()),
    ).toEqual(expected);
  });

  it('says when there are more, and when there are none', async () => {
    expect((await here('messages list --limit 2')).stderr).toBe(
      'Showing the newest 2; raise --limit to see more.\n',
    );
    expect((await here('messages list --limit 5')).stderr).toBe('');
    expect((await here('messages list --limit 2 --json')).stderr).toBe('');
    const none = await here('messages list --to 88112233');
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'No messages.\n' });
    expect((await here('messages list --to 88112233 --json')).stdout).toBe('[]\n');
  });

  it.each([
    ['--since soon', /'soon' is not a time/],
    ['--since 2026-02-30', /not a time/],
    ['--status gone', /not one of queued, sent, failed/],
    ['--limit 0', /must be 1 or more/],
    ['--follow --until 2026-11-21', /cannot be combined/],
    ['--follow --json', /--output ndjson/],
  ])('is a usage error with %s', async (options, error) => {
    expect(await here(`messages list ${options}`)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(error),
    });
  });

  it('refuses a recipient that is none', async () => {
    expect(await here('messages list --to nobody')).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('"nobody" is neither a phone number nor an email address'),
    });
  });
});

describe('urtuu batches list', () => {
  it('shows the batches of the project, as batches get does', async () => {
    const records = await home.json('batches list');
    expect(records).toEqual([await home.json(`batches get ${home.known.batch}`)]);
    expect(await home.json('batches list --status processing')).toEqual([]);
    expect((await here('batches list --channel email')).stderr).toBe('No batches.\n');
  });
});

describe('a list', () => {
  const page = (ids: string[], next: string | null): Reply => ({
    body: { data: ids.map((id) => smsMessage({ id })), next },
  });

  it('goes on behind a page that is empty, and asks for no more than it shows', async () => {
    const pages = [page(['a', 'b'], 'b'), page([], 'x'), page(['c', 'd'], null)];
    const service = fakeService((_, index) => pages[index] as Reply);
    const { stdout } = await run('messages list --limit 3 -o ndjson', service);
    expect(lines(stdout).map((line) => JSON.parse(line).id)).toEqual(['a', 'b', 'c']);
    expect(service.requests.map(({ path }) => path)).toEqual([
      '/messages?limit=3',
      '/messages?limit=3&after=b',
      '/messages?limit=3&after=x',
    ]);
  });

  it.each([
    [404, 'not_found'],
    [405, 'method_not_allowed'],
  ])('ends with 12 where the service has none: %i', async (status, code) => {
    const service = fakeService(() => refusal(status, code));
    for (const [noun, name, hint] of [
      ['messages', 'lists of messages', 'urtuu history'],
      ['batches', 'lists of batches', 'urtuu history'],
      ['inbox', 'an inbox', 'urtuu service inbox'],
    ]) {
      const { code: exit, stderr } = await run(`${noun} list --json`, service);
      expect(exit).toBe(12);
      expect(JSON.parse(stderr).error).toMatchObject({
        code,
        status,
        message: `this service does not offer ${name}`,
        hint: expect.stringContaining(`${hint}`),
      });
    }
  });
});

describe('urtuu inbox list', () => {
  const received = {
    ...{ id: 'a', channel: 'sms', from: '99112233', to: '139911', subject: null, text: 'Тийм' },
    ...{ received_at: '2026-11-21T08:00:00.000Z', waits_for_parts: false },
  };
  const { subject: _, text: __, ...hidden } = received;
  const listing = (...data: object[]) => fakeService(() => ({ body: { data, next: null } }));

  it('shows the texts, in every format with the same fields', async () => {
    const { stdout, stderr } = await run('inbox list', listing(received));
    expect([stdout.split(/ {2,}|\n/).slice(0, 4), stderr]).toEqual([
      ['RECEIVED AT', 'FROM', 'TO', 'TEXT'],
      '',
    ]);
    expect(JSON.parse((await run('inbox list --json', listing(received))).stdout)).toEqual([received]);
    const { stdout: csv } = await run('inbox list -o csv', listing(received));
    expect(lines(csv)[0]).toBe('received_at,channel,from,to,subject,text,waits_for_parts,id');
  });

  it('without the scope inbox has no texts, and says so to people', async () => {
    const { code, stdout, stderr } = await run('inbox list', listing(hidden, hidden));
    expect([code, lines(stdout)[0]]).toEqual([0, expect.stringMatching(/^RECEIVED AT +FROM +TO$/)]);
    expect(stderr).toBe('Subjects and texts need a key with the scope inbox.\n');
    const machine = await run('inbox list --json', listing(hidden));
    expect(JSON.parse(machine.stdout)).toEqual([{ ...hidden, subject: null, text: null }]);
    expect(machine.stderr).toBe('');
  });

  it('asks for what matches its filters', async () => {
    const service = listing();
    const clock = { now: () => Date.parse('2026-11-21T08:00:00Z') };
    await run('inbox list --channel sms --since 2h --until 2026-11-21T07:00Z --limit 5', {
      ...service,
      clock,
    });
    expect(service.requests.map(({ path }) => decodeURIComponent(path))).toEqual([
      '/inbox?channel=sms&since=2026-11-21T06:00:00.000Z&until=2026-11-21T07:00:00.000Z&limit=5',
    ]);
  });
});

describe('--follow', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 21) + second * 1_000).toISOString();
  const message = (id: string, second: number, status = 'sent') =>
    ({ ...smsMessage({ id }), created_at: at(second), status }) as const;
  /** A terminal that goes away after so many rows. */
  class Reader extends Captured {
    readonly #rows: number;
    constructor(rows: number) {
      super(undefined);
      this.#rows = rows;
    }
    override write(text: string, done?: (error?: Error | null) => void): boolean {
      this.text += text;
      const gone = this.text.split('\n').length - 1 >= this.#rows;
      done?.(gone ? Object.assign(new Error('gone'), { code: 'EPIPE' }) : null);
      return true;
    }
  }
  /** Messages that come poll by poll, newest first, with the filters that are asked for. */
  const coming = (polls: ReturnType<typeof message>[][]): FakeService & { polls: () => number } => {
    let poll = -1;
    const service = fakeService(({ path }: Request) => {
      const query = new URL(path, 'http://x').searchParams;
      if (!query.has('after')) poll += 1;
      const there = polls.slice(0, poll + 1).flat();
      const data = there
        .filter(({ created_at }) => created_at >= (query.get('since') ?? ''))
        .filter(({ status }) => status === (query.get('status') ?? status))
        .sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
      return { body: { data, next: null } };
    });
    return { ...service, polls: () => poll };
  };
  const ids = (text: string) => lines(text).map((line) => JSON.parse(line).id);

  it('shows the newest of those that are there, then every new one, the oldest first', async () => {
    const stdout = new Reader(5);
    const service = coming([
      [message('a', 0), message('b', 1), message('c', 2)],
      [],
      [message('e', 9), message('d', 8)],
      [message('f', 20)],
    ]);
    expect(await run('messages list --follow --limit 2 -o ndjson', { ...service, stdout })).toMatchObject({
      code: 0,
      slept: 6_000,
    });
    expect(ids(stdout.text)).toEqual(['b', 'c', 'd', 'e', 'f']);
  });

  it('shows one that comes late, or that matches only later than newer ones, and none twice', async () => {
    const stdout = new Reader(4);
    // b failed before a, which was accepted first; d becomes visible before c.
    const service = coming([
      [message('s', 0, 'failed')],
      [message('b', 1_200, 'failed')],
      [message('a', 1_000, 'failed')],
      [message('old', -4_000, 'failed')],
      [message('c', 1_300, 'failed')],
    ]);
    await run('messages list --follow --status failed -o ndjson', { ...service, stdout });
    expect(ids(stdout.text)).toEqual(['s', 'b', 'a', 'c']);
  });

  it.each([
    ['', 3],
    ['--status failed', 3],
  ])(
    'shows what is accepted after the clock of the service was set back, and none twice: %s',
    async (filter, rows) => {
      const hour = 3_600;
      // In the order of acceptance, with the time of the service at each.
      const polls: [now: number, accepted: ReturnType<typeof message>[]][] = [
        [
          0,
          [message('old', -1.5 * hour, 'failed'), message('known', -30, 'failed'), message('a', 0, 'failed')],
        ],
        [2 - 2 * hour, []],
        [4 - 2 * hour, [message('b', 3 - 2 * hour, 'failed')]],
        [6 - 2 * hour, []],
        [8 - 2 * hour, []],
        [10, [message('c', 9, 'failed')]],
      ];
      let poll = -1;
      const service = fakeService(({ path }: Request) => {
        poll += 1;
        const since = new URL(path, 'http://x').searchParams.get('since') ?? '';
        const there = polls.slice(0, poll + 1).flatMap(([, accepted]) => accepted);
        const data = there.filter(({ created_at }) => created_at >= since).reverse();
        const headers = { Date: new Date(at(polls[poll]?.[0] ?? 10)).toUTCString() };
        return { body: { data, next: null }, headers };
      });
      const stdout = new Reader(rows);
      await run(`messages list --follow --limit 1 ${filter} -o ndjson`, { ...service, stdout });
      expect(ids(stdout.text)).toEqual(['a', 'b', 'c']);
    },
  );

  it('has one header, and goes on after a read that fails for now', async () => {
    const stdout = new Reader(3);
    const { fetch } = coming([[message('first', 0)], [message('other', 5)]]);
    let reads = 0;
    const failing: FakeService['fetch'] = async (...request) => {
      reads += 1;
      if (reads === 2) throw new Error('no network');
      return fetch(...request);
    };
    const line = 'messages list --follow --max-retries 0 --columns id,status';
    const { code, stderr } = await run(line, { fetch: failing, stdout });
    expect(code).toBe(0);
    expect(stdout.text).toBe('ID     STATUS\nfirst  sent\nother  sent\n');
    expect(stderr).toMatch(/^warning: .*; still trying\n$/);
  });

  it('tells a program of each reset at once, in a line of JSON, and misses nothing', async () => {
    const stdout = new Reader(3);
    const { fetch } = coming([[message('first', 0)], [message('second', 5)], [message('third', 9)]]);
    let reads = 0;
    const resetting: FakeService['fetch'] = async (...request) => {
      reads += 1;
      if (reads % 2 === 1) return fetch(...request);
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    };
    const line = 'messages list --follow --max-retries 0 -o ndjson';
    const { code, stderr } = await run(line, { fetch: resetting, stdout });
    expect(code).toBe(0);
    expect(ids(stdout.text)).toEqual(['first', 'second', 'third']);
    const warnings = [expect.stringMatching(/ECONNRESET.*; still trying$/)];
    expect(lines(stderr).map((text) => JSON.parse(text))).toEqual([{ warnings }, { warnings }]);
  });

  it('shows what an inbox receives once: an SMS in parts when it is whole, whatever came before', async () => {
    const sms = (id: string, second: number, waits_for_parts = false) => ({
      ...{ id, channel: 'sms', from: '99112233', to: '139911', subject: null, text: id },
      ...{ received_at: at(second), waits_for_parts },
    });
    const polls = [
      [sms('b', 300, true), sms('a', 0)],
      [sms('c', 900), sms('b', 300, true), sms('a', 0)],
      [sms('c', 900), sms('b', 300), sms('a', 0)],
      [sms('d', 901), sms('c', 900), sms('b', 300), sms('a', 0)],
    ];
    const stdout = new Reader(4);
    let poll = -1;
    const service = fakeService(({ path }: Request) => {
      poll += 1;
      const since = new URL(path, 'http://x').searchParams.get('since') ?? '';
      const data = (polls[poll] ?? []).filter(({ received_at }) => received_at >= since);
      return { body: { data, next: null }, headers: { Date: new Date(at(900 + poll)).toUTCString() } };
    });
    expect(await run('inbox list --follow -o ndjson', { ...service, stdout })).toMatchObject({ code: 0 });
    expect(ids(stdout.text)).toEqual(['a', 'c', 'b', 'd']);
  });

  it('ends with the error of a read that cannot succeed', async () => {
    const service = fakeService(() => refusal(401, 'unauthorized'));
    expect(await run('batches list --follow', service)).toMatchObject({ code: 4 });
  });
});
