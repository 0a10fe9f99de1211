import { describe, expect, it } from 'vitest';
import { Captured } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
import { feedOf, ListeningMachine, target } from './listening.js';

const forward = `listen --forward-to ${target}`;

describe('the place of a listener', () => {
  it('is kept before it says that it listens from now', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(1);
    const stderr = new Captured(undefined);
    stderr.write = (text, done) => {
      if (text.includes('Listening as'))
        expect(JSON.parse(machine.file('cursor.json')).cursor).toBe('a00000000001-1');
      return Captured.prototype.write.call(stderr, text, done);
    };
    const { stderr: said } = await machine.run(feed, forward, { stderr, signalsAfter: feed.waits() });
    expect(said).toContain('Listening as default, from now.');
  });

  it.each([
    ['now', '2026-11-21T00:00:00.000Z'],
    ['start', '2026-11-14T00:00:00.000Z'],
    ['a00000000001-0', '2026-11-14T00:00:00.000Z'],
  ])('from %s says since when, though no event has passed', async (from, since) => {
    const machine = new ListeningMachine();
    const feed = feedOf(0);
    await machine.run(feed, `${forward} --from ${from}`, { signalsAfter: feed.waits() });
    feed.endLine('b00000000002');
    expect(await machine.run(feed, forward)).toMatchObject(
      saying(11, `the events since ${since} are no longer kept`),
    );
  });

  it('of a renewed key goes on where the key before it was', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(1);
    await machine.run(feed, `${forward} --from start`);
    const { id } = feed.add();
    await machine.run(feed, forward, { key: `urtuu_${'B'.repeat(40)}` });
    expect(machine.ids).toEqual(['a00000000001-1', id]);
    expect(machine.folders).toHaveLength(1);
  });

  it('of a renewed key ends with 11 after a reset, and says both ways out, until --from does', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(1);
    await machine.run(feed, `${forward} --from start`);
    feed.endLine('b00000000002');
    const { id } = feed.add();
    const key = `urtuu_${'B'.repeat(40)}`;
    for (let each = 0; each < 2; each += 1) {
      const result = await machine.run(feed, forward, { key });
      expect(result).toMatchObject(saying(11, 'this key is new to the listener default'));
      expect(result.stderr).toMatch(
        /--from now\. .* --from start, .* urtuu messages list --since 2026-11-21T00:00:00\.000Z$/m,
      );
    }
    await machine.run(feed, `${forward} --from start`, { key });
    expect(machine.ids).toEqual(['a00000000001-1', id]);
  });

  it('of a renewed key is refused while the one of the key before it runs', async () => {
    const machine = new ListeningMachine();
    const feed = feedOf(1);
    await machine.run(feed, `${forward} --from start`);
    const running = machine.run(feed, forward, { signalsAfter: new Promise(() => {}) });
    await feed.waits();
    const key = `urtuu_${'B'.repeat(40)}`;
    expect(await machine.run(feed, forward, { key })).toMatchObject(saying(11, 'is already running'));
    machine.signal();
    await running;
  });

  it('of another project has a place of its own, and says that it begins anew', async () => {
    const machine = new ListeningMachine();
    const [one, other] = [feedOf(1), feedOf(1)];
    other.endLine('b00000000002');
    other.add();
    await machine.run(one, `${forward} --from start`);
    const key = `urtuu_${'B'.repeat(40)}`;
    expect(await machine.run(other, `${forward} --from start`, { key })).toMatchObject(
      saying('SIGINT', 'This key is new to default'),
    );
    one.add();
    other.add();
    await machine.run(one, forward);
    await machine.run(other, forward, { key });
    expect(machine.ids).toEqual(['a00000000001-1', 'b00000000002-1', 'a00000000001-2', 'b00000000002-2']);
  });
});
