import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcomeOf, printed } from '../support/binary.js';
import { Feed, feedServer } from '../support/feed.js';
import { Loopback } from '../support/loopback.js';
import { emptyMachine } from '../support/machines.js';
import { testKey } from '../support/run.js';
import { saying } from '../support/saying.js';

const machine = emptyMachine();
const isWindows = process.platform === 'win32';

/** A feed, and the program that its events are posted to. */
async function shop(count: number, answering: Parameters<typeof Loopback.listen>[0]) {
  const feed = new Feed();
  for (let each = 0; each < count; each += 1) feed.add();
  const service = await feedServer({ [testKey]: feed });
  const program = await Loopback.listen(answering);
  const env = { URTUU_BASE_URL: `${service.origin}/v1`, URTUU_API_KEY: testKey };
  const listen = (...words: string[]) => machine.start(['events', 'listen', ...words], { env });
  return {
    ...{ feed, program, env, listen },
    forward: (to = program.origin) => listen('--forward-to', to, '--from', 'start'),
    /** Of what the program got. */
    ids: () => program.requests.map(({ headers }) => headers['webhook-id']),
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}
const folder = () => {
  const root = join(machine.home, 'state', 'urtuu', 'events');
  return join(root, readdirSync(root)[0] ?? '');
};

it('urtuu events listen goes on, on a real service, with what happened while it was stopped', async () => {
  await using program = await Loopback.listen((_, response) => response.writeHead(204).end());
  const env = { URTUU_SANDBOX: '1' };
  const send = async (to: string) =>
    (await machine.run(['sms', 'send', to, 'hi', '--value', 'id'], { env })).stdout.trim();
  const listen = () => machine.start(['events', 'listen', '--forward-to', program.origin], { env });
  const first = listen();
  await printed(first, 'stderr', /Its secret/);
  const ids = [await send('99112233')];
  await printed(first, 'stderr', /: taken/);
  first.kill('SIGTERM');
  // It was waiting for the next event.
  expect(await outcomeOf(first)).toMatchObject({ signal: 'SIGTERM' });
  ids.push(await send('99112244'), await send('99112255'));
  const second = listen();
  await printed(second, 'stderr', /(?:: taken[\s\S]*){2}/);
  second.kill('SIGINT');
  expect(await outcomeOf(second)).toMatchObject({ signal: 'SIGINT' });
  const events = program.requests.map(({ body }) => JSON.parse(body));
  expect(events.map(({ type, data }) => [type, data.id])).toEqual(ids.map((id) => ['message.sent', id]));
});

describe('urtuu events listen', () => {
  it('killed with an event that its program has got delivers it again, then the next', async () => {
    let kill: (() => void) | null = null;
    await using here = await shop(2, (_, response) => {
      kill?.();
      response.writeHead(204).end();
    });
    const first = here.forward();
    kill = () => first.kill('SIGKILL');
    expect(await outcomeOf(first)).toMatchObject({ signal: 'SIGKILL' });
    kill = null;
    const second = here.forward();
    await printed(second, 'stderr', /a00000000001-2: taken/);
    second.kill();
    expect(await outcomeOf(second)).toMatchObject({ signal: 'SIGTERM' });
    expect(here.ids()).toEqual(['a00000000001-1', 'a00000000001-1', 'a00000000001-2']);
  });

  it('that gets a SIGTERM ends after the event under way, and goes on with the next one', async () => {
    await using here = await shop(2, (_, response, count) => {
      if (count === 1) running.kill('SIGTERM');
      setTimeout(() => response.writeHead(204).end(), 300);
    });
    const running = here.forward();
    expect(await outcomeOf(running)).toMatchObject(saying(null as never, '-1: taken'));
    expect(running.signalCode).toBe('SIGTERM');
    const next = here.forward();
    await printed(next, 'stderr', /a00000000001-2: taken/);
    next.kill();
    await outcomeOf(next);
    expect(here.ids()).toEqual(['a00000000001-1', 'a00000000001-2']);
  });

  it('runs once for each name, also after a kill', async () => {
    await using here = await shop(1, (_, response) => response.writeHead(204).end());
    const first = here.forward();
    await printed(first, 'stderr', /taken/);
    expect(await outcomeOf(here.forward())).toMatchObject(saying(11, `already running (pid ${first.pid})`));
    first.kill('SIGKILL');
    await outcomeOf(first);
    const next = here.forward();
    await printed(next, 'stderr', /from where it stopped/);
    next.kill('SIGKILL');
    await outcomeOf(next);
  });

  it.each([
    ['redirects', 'HTTP 307', (origin: string) => origin],
    ['speaks no TLS', 'TLS', (origin: string) => origin.replace('http:', 'https:')],
    ['is not there', 'connection refused', () => 'http://127.0.0.1:1/'],
  ])('keeps the event for a program that %s', async (_, said, addressOf) => {
    await using here = await shop(1, ({ path }, response) => {
      response.writeHead(path === '/' ? 307 : 204, { location: '/elsewhere' }).end();
    });
    const child = here.forward(addressOf(here.program.origin));
    const words = await printed(child, 'stderr', /was not taken/);
    child.kill();
    expect(words).toContain(said);
    expect((await outcomeOf(child)).stderr).not.toContain(': taken');
    expect(here.program.requests.map(({ path }) => path)).not.toContain('/elsewhere');
  });

  it('closes the connection of a program that answers without an end', async () => {
    let sent = 0;
    await using here = await shop(1, (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const block = Buffer.alloc(16_384);
      const more = () => {
        if (response.destroyed) return;
        sent += block.length;
        response.write(block, () => setImmediate(more));
      };
      more();
    });
    const child = here.forward();
    await printed(child, 'stderr', /-1: taken/);
    child.kill();
    await outcomeOf(child);
    // What the buffers of two sockets hold comes on top.
    expect(sent).toBeLessThan(8_000_000);
  });

  it.skipIf(isWindows)('keeps its secret to itself, and refuses one that others can change', async () => {
    await using here = await shop(1, (_, response) => response.writeHead(204).end());
    const first = here.forward();
    await printed(first, 'stderr', /taken/);
    first.kill();
    const { stderr } = await outcomeOf(first);
    const file = join(folder(), 'secret');
    expect(stderr).toContain(`Its secret: ${file}`);
    const modes = [folder(), file, join(folder(), 'cursor.json')].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o600]);
    chmodSync(file, 0o622);
    expect(await outcomeOf(here.forward())).toMatchObject(saying(13, `chmod 600 ${file}`));
  });

  it.skipIf(isWindows)('gives an event to a command, and shows what that prints', async () => {
    await using here = await shop(1, () => {});
    const child = here.listen('--from', 'start', '--exec', 'cat; echo "key $URTUU_API_KEY" >&2');
    const words = await printed(child, 'stderr', /-1: taken/);
    child.kill();
    expect(JSON.parse((await outcomeOf(child)).stdout)).toEqual(here.feed.events[0]);
    expect(words).toMatch(/^key $/m);
  });

  it('ends where nobody reads what it prints', async () => {
    await using here = await shop(1, () => {});
    const child = here.listen('--from', 'start', '-o', 'ndjson');
    await printed(child, 'stdout', /\n/);
    child.stdout?.destroy();
    await here.feed.waits();
    here.feed.add();
    expect(await outcomeOf(child)).toMatchObject({ code: 0, stderr: '' });
  });
});
