import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Feed } from '../../../support/feed.js';
import { type Reply, refusal } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
import { feedOf, ListeningMachine, target } from './listening.js';

const forward = `listen --forward-to ${target}`;
const missing = refusal(404, 'not_found');

describe('urtuu events listen', () => {
  it('prints events with their cursors, and keeps no place', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(1);
    const { code, stdout } = await machine.run(feed, 'listen -o ndjson --from start --mask', {
      signalsAfter: feed.waits(),
    });
    const [event] = feed.events;
    const masked = { ...event, data: { ...event?.data, to: '9911**33' }, cursor: event?.id };
    expect({ code, event: JSON.parse(stdout) }).toEqual({ code: 'SIGINT', event: masked });
    expect(machine.folders).toEqual([]);
  });

  it.each(['csv', 'tsv'])('prints the cursor as %s too', async (format) => {
    const feed = feedOf(1);
    const options = `-o ${format} --columns cursor --from start`;
    const { stdout } = await new ListeningMachine().run(feed, `listen ${options}`, {
      signalsAfter: feed.waits(),
    });
    expect(stdout.trim().split(/\r?\n/)).toEqual(['cursor', 'a00000000001-1']);
  });

  it.each([
    ['', ['after=now&wait=0', 'after=a00000000001-2&wait=20']],
    ['--from start', ['wait=0', 'after=a00000000001-2&wait=20']],
    ['--from A00000000001-1', ['after=a00000000001-1&wait=0', 'after=a00000000001-2&wait=20']],
    [
      '--types message.sent,batch.completed',
      [
        'after=now&wait=0&types=message.sent%2Cbatch.completed',
        'after=a00000000001-2&wait=20&types=message.sent%2Cbatch.completed',
      ],
    ],
  ])('begins where %s says, and goes on after the last page', async (options, asked) => {
    const feed = feedOf(2);
    await new ListeningMachine().run(feed, `listen ${options}`, { signalsAfter: feed.waits() });
    expect(feed.asked).toEqual(asked);
  });

  it.each<[string, Reply | Error, number, string]>([
    ['refuses a key', refusal(401, 'unauthorized'), 4, 'unauthorized'],
    ['does not know the cursor', refusal(410, 'cursor_expired'), 11, '--from start'],
    ['is of an earlier release', missing, 12, 'this service does not offer events'],
    ['does not know the method', refusal(405, 'method_not_allowed'), 12, 'urtuu messages list'],
    ['cannot be reached', new Error('reset'), 5, 'connection'],
  ])('ends at once where the service %s', async (_, reply, code, said) => {
    expect(
      await new ListeningMachine().run(reply, 'listen --from a00000000001-1 --max-retries 0'),
    ).toMatchObject(saying(code, said));
  });

  it.each([
    ['listen --name a', '--name needs'],
    ['listen --json', '--output ndjson'],
    [`${forward} --exec true`, 'cannot be combined'],
    ['listen --exec true --name ../a', 'is not a name'],
    ['listen --forward-to http://shop.example.mn/', 'needs an https address'],
    ['listen --forward-to https://me:secret@shop.example.mn/', 'needs an https address'],
    ['listen --types message.sned', "'message.sned' is not one of message.sent,"],
    ['listen --types message.sned', 'Did you mean message.sent?'],
    ['listen --types message.sent,', "'' is not one of"],
    [`${forward} --types *`, "'*' is not one of"],
    ['listen --from strat', 'Did you mean start?'],
    ['listen --from a-1', "'a-1' is not one of now, start, or the cursor of an event"],
    [`${forward} --from ''`, "'' is not one of now, start,"],
    ["listen --exec ' '", '--exec: the value is empty'],
    ['listen --forward-to ftp://localhost/', 'needs an https address'],
    ['listen --forward-to localhost:3000', 'needs an https address'],
  ])('refuses %s', async (line, said) => {
    const result = await new ListeningMachine().run(new Feed(), line);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(said);
    expect(result.stderr).not.toContain('secret');
  });
});

describe('a listener', () => {
  it('begins from now, and goes on where it stopped, whatever --from says', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(1);
    await machine.run(feed, forward, { signalsAfter: feed.waits() });
    const first = feed.add().id;
    const second = feed.add().id;
    await machine.run(feed, forward, { until: 1 });
    await machine.run(feed, `${forward} --from start`, { until: 1 });
    expect(machine.ids).toEqual([first, second]);
  });

  it('that was to begin with the oldest event still does after a kill before it took one', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(2);
    await machine.run(feed, `${forward} --from start`, { answer: () => ({ status: 500 }) });
    await machine.run(feed, forward, { until: 2 });
    expect(machine.ids).toEqual(['a00000000001-1', 'a00000000001-1', 'a00000000001-2']);
  });

  it.each<[string, Reply | Error, string]>([
    ['a redirect', { status: 302, headers: { location: target } }, 'HTTP 302'],
    ['a client error', { status: 410 }, 'HTTP 410'],
    ['a server error', { status: 503 }, 'HTTP 503'],
    ['a lost connection', new Error('reset'), 'the connection was lost'],
    [
      'a refused connection',
      Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' }),
      'connection refused',
    ],
  ])('delivers the same event again after %s, in order and ever more slowly', async (_, reply, said) => {
    const machine = new ListeningMachine();
    const feed = feedOf(2);
    const { code, stderr, slept } = await machine.run(feed, `${forward} --from start`, {
      answer: (_, count) => (count < 4 ? reply : {}),
      until: 5,
    });
    expect(code).toBe('SIGINT');
    expect(machine.ids).toEqual([...Array(4).fill('a00000000001-1'), 'a00000000001-2']);
    expect(slept).toBe((500 + 1_000 + 2_000) * 0.875);
    expect(stderr.match(/was not taken/g)).toHaveLength(1);
    expect(stderr).toContain(`message.sent a00000000001-1 was not taken (${said}); still trying.`);
  });

  it('takes an answer of over 64 KB for one, and reads no more of it', async () => {
    const feed = feedOf(1);
    const text = 'x'.repeat(70_000);
    await new ListeningMachine().run(feed, `${forward} --from start`, { answer: () => ({ text }) });
    const machine = new ListeningMachine();
    await machine.run(feedOf(2), `${forward} --from start`, { answer: () => ({ text }), until: 2 });
    expect(machine.ids).toHaveLength(2);
  });

  it('signs each try as Standard Webhooks say', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(1);
    await machine.run(feed, `${forward} --from start`, { answer: () => ({ status: 500 }), until: 2 });
    const secret = /^whsec_(.{44})\n$/.exec(machine.file('secret'))?.[1] ?? '';
    for (const [index, { headers, body }] of machine.posted.entries()) {
      const time = Date.parse('2026-11-21T00:00:00Z') / 1_000;
      const signed = `a00000000001-1.${time}.${body}`;
      const signature = createHmac('sha256', Buffer.from(secret, 'base64')).update(signed).digest('base64');
      expect([index, headers]).toEqual([
        index,
        {
          'Content-Type': 'application/json',
          'User-Agent': expect.stringMatching(/^urtuu\//),
          'webhook-id': 'a00000000001-1',
          'webhook-timestamp': String(time),
          'webhook-signature': `v1,${signature}`,
        },
      ]);
      expect(JSON.parse(body)).toEqual(feed.events[0]);
    }
    expect(JSON.stringify(machine.posted)).not.toContain('urtuu_A');
  });

  it.each(['whsec_short', 'another form', ''])('refuses the secret %j', async (secret) => {
    const machine = new ListeningMachine();
    const feed = feedOf(1);
    await machine.run(feed, forward, { signalsAfter: feed.waits() });
    writeFileSync(join(machine.folders[0] ?? '', 'secret'), secret);
    expect(await machine.run(feed, forward)).toMatchObject(saying(13, 'no secret of the form'));
  });

  it('ends with 11 where events are gone that it has not seen, until --from says how to go on', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(2);
    await machine.run(feed, `${forward} --from start`, { until: 2 });
    feed.endLine('b00000000002');
    const { id } = feed.add();
    for (let each = 0; each < 2; each += 1) {
      const result = await machine.run(feed, forward);
      expect(result).toMatchObject(
        saying(11, 'the events since 2026-11-21T00:00:01.000Z are no longer kept'),
      );
      expect(result.stderr).toContain('urtuu messages list --since 2026-11-21T00:00:01.000Z');
    }
    await machine.run(feed, `${forward} --from start`);
    expect(machine.ids).toEqual(['a00000000001-1', 'a00000000001-2', id]);
  });

  it('ends with 11 where its event is deleted while nobody takes it', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(2);
    const result = await machine.run(feed, `${forward} --from a00000000001-0`, {
      answer: (_, count) => {
        if (count === 2) feed.deleted = 1;
        return { status: 500 };
      },
      until: 9,
    });
    expect(result).toMatchObject(saying(11, 'are no longer kept'));
  });

  it('that another process has is refused, under its name only', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(0);
    const running = machine.run(feed, forward);
    await feed.waits();
    expect(await machine.run(feed, forward)).toMatchObject(
      saying(11, `the listener default is already running (pid ${process.pid})`),
    );
    const other = machine.run(feed, `${forward} --name other`);
    await feed.waits(2);
    feed.add();
    await Promise.all([running, other]);
    expect(machine.ids).toHaveLength(2);
  });

  it.each(['', 'not JSON', '{"version": 2, "key": "x"}'])(
    'whose file is damaged ends with 13, and does not begin from now: %j',
    async (text) => {
      const machine = new ListeningMachine();
      const feed = feedOf(1);
      await machine.run(feed, forward, { signalsAfter: feed.waits() });
      writeFileSync(join(machine.folders[0] ?? '', 'cursor.json'), text);
      expect(await machine.run(feed, forward)).toMatchObject(saying(13, 'is damaged, or of a later version'));
    },
  );

  it.each<[string, Reply | Error, number]>([
    ['cannot be reached', new Error('reset'), 5],
    ['does not take its cursor', refusal(400, 'invalid_request'), 8],
  ])('begins as it is told, after a start at which the service %s', async (_, reply, code) => {
    const machine = new ListeningMachine();
    expect(await machine.run(reply, `${forward} --from a00000000001-1 --max-retries 0`)).toMatchObject({
      code,
    });
    const { stderr } = await machine.run(feedOf(1), `${forward} --from start`);
    expect(stderr).toMatch(/^Listening as default, from start\.$/m);
    expect(stderr).not.toContain('warning');
    expect(machine.ids).toEqual(['a00000000001-1']);
  });
});

describe('urtuu events skip', () => {
  it('leaves out the event that the listener waits at, whatever its case, and no other', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(2);
    const skip = (id: string, name = '') => machine.run(feed, `skip ${id} ${name} --json`);
    expect(await skip('a00000000001-1')).toMatchObject(saying(12, 'waits at no event'));
    await machine.run(feed, `${forward} --from start`, { answer: () => ({ status: 500 }) });
    expect(await skip('a00000000001-2')).toMatchObject(saying(12, 'waits at another event: a00000000001-1'));
    expect(await skip('a00000000001-1', '--name other')).toMatchObject(saying(12, 'waits at no event'));
    const { code, stdout } = await skip('A00000000001-1');
    expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, id: 'a00000000001-1', name: 'default' });
    expect(await machine.run(feed, forward)).toMatchObject(saying('SIGINT', 'a00000000001-1: left out'));
    expect(machine.ids).toEqual(['a00000000001-1', 'a00000000001-2']);
  });

  it('works while the listener runs', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(2);
    let skipped: Promise<unknown> = Promise.resolve();
    await machine.run(feed, `${forward} --from start`, {
      answer: ({ id }) => ({ status: id.endsWith('-1') ? 500 : 204 }),
      until: 99,
      clock: {
        async sleep() {
          skipped = machine.run(feed, 'skip a00000000001-1');
          await skipped;
          void feed.waits().then(() => machine.signal());
        },
      },
    });
    expect(machine.ids).toEqual(['a00000000001-1', 'a00000000001-2']);
  });
});
