import { createHmac } from 'node:crypto';
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Replayed, useKey } from '../../../src/cli/single/used-keys.js';
import { emptyFolder } from '../../support/folders.js';

const service = 'https://api.example.mn/v1';

describe('the memory of used keys', () => {
  const home = emptyFolder();
  let file: string;
  beforeEach(() => {
    file = join(home, 'state', 'used-keys');
  });

  const use = async (text: string, key = 'order-7', more: { service?: string; to?: string } = {}) => {
    const { to = '99112233' } = more;
    const used = await useKey(file, {
      service,
      ...more,
      key,
      messages: [['sms', { to, text } as { to: string }]],
    });
    if (used === null) throw new Error('no memory');
    return used;
  };

  /** What earlier commands did under the key: `hi accepted as m1`, `ho refused`, `ho lost`, `ho not sent`. */
  async function commands(...lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      const [text = '', end = '', ...words] = line.split(' ');
      const used = await use(text);
      if (end === 'accepted') used.accepted(words[1] ?? '');
      if (end === 'refused') used.resolved();
      if (end === 'not') used.notSent();
    }
  }

  it.each<[Replayed, earlier: string[], more?: { repeated: boolean }]>([
    ['unknown', []],
    ['unknown', [], { repeated: true }],
    ['same', ['hi accepted as m1']],
    ['same', ['hi lost']],
    ['same', ['hi lost', 'hi accepted as m1']],
    ['unknown', ['hi refused']],
    ['same', ['hi lost', 'hi not sent']],
    ['unknown', ['hi lost', 'hi refused']],
    ['other', ['ho accepted as m1']],
    ['other', ['ho accepted as m1'], { repeated: true }],
    ['other', ['ho accepted as m1', 'hi lost']],
    ['other', ['ho lost']],
    ['other', ['ho lost', 'he lost']],
    ['either', ['ho lost'], { repeated: true }],
    ['either', ['ho lost', 'hi lost']],
    ['same', ['ho lost', 'hi accepted as m1']],
    ['unknown', ['ho refused']],
    ['same', ['ho refused', 'hi lost']],
    ['same', ['ho lost', 'ho refused', 'hi lost']],
    // Projects of one service each have their own messages.
    ['same', ['ho accepted as m2', 'hi accepted as m1']],
    ['other', ['hi accepted as m2', 'ho accepted as m1']],
    ['unknown', ['ho accepted as m2']],
    ['same', ['ho accepted as m2', 'hi lost']],
    ['other', ['hi accepted as m2', 'ho lost']],
  ])('takes a replay of m1 to `hi` for %s after %j %j', async (expected, earlier, more) => {
    await commands(...earlier);
    expect((await use('hi')).replayed('m1', more?.repeated === true)).toBe(expected);
  });

  it('knows whether an earlier command left the same message open', async () => {
    expect((await use('hi')).isOpen).toBe(false);
    expect((await use('hi')).isOpen).toBe(true);
    expect((await use('ho')).isOpen).toBe(false);
    (await use('hi')).notSent();
    expect((await use('hi')).isOpen).toBe(true);
    (await use('hi')).resolved();
    expect((await use('hi')).isOpen).toBe(false);
  });

  it('is of one service and one key', async () => {
    await commands('ho accepted as m1');
    expect((await use('hi', 'order-8')).replayed('m1', false)).toBe('unknown');
    expect((await use('hi', 'order-7', { service: 'https://example.com' })).replayed('m1', false)).toBe(
      'unknown',
    );
    expect((await use('ho', 'order-7', { to: '88001122' })).replayed('m1', false)).toBe('other');
  });

  it.each<[Replayed, lines: [sign: string, apiKey: string, text: string][], later?: string]>([
    ['same', [['=', 'one', 'hi']]],
    ['same', [['?', 'two', 'hi']]],
    ['other', [['=', 'two', 'ho']]],
    ['other', [['?', 'one', 'ho']]],
    [
      'unknown',
      [
        ['?', 'one', 'ho'],
        ['-', 'one', 'ho'],
      ],
    ],
    // It did not write which of them has the id.
    [
      'either',
      [
        ['=', 'one', 'hi'],
        ['=', 'two', 'ho'],
      ],
    ],
    // Another command has written it since.
    ['same', [['=', 'two', 'ho']], 'hi accepted as m1'],
    ['other', [['=', 'one', 'hi']], 'ho accepted as m1'],
    ['either', [['=', 'two', 'ho']], 'hi lost'],
    ['same', [['=', 'one', 'hi']], 'ho lost'],
  ])('takes a replay of m1 to `hi` for %s after %j of e5bfb29c and %j', async (expected, lines, later) => {
    (await use('any', 'other')).notSent();
    const [header = ''] = readFileSync(file, 'utf8').split('\n');
    const hash = (value: unknown) =>
      createHmac('sha256', header.slice(-32)).update(JSON.stringify(value)).digest('hex').slice(0, 32);
    const written = lines.map(([sign, apiKey, text]) =>
      [
        sign,
        hash([[service, apiKey], 'order-7']),
        hash(['sms', { to: '99112233', text }]),
        hash(['shared', service, 'order-7']),
        hash(['sms', '99112233']),
      ].join(' '),
    );
    appendFileSync(file, `${written.join('\n')}\n`);
    if (later !== undefined) await commands(later);
    expect((await use('hi')).replayed('m1', false)).toBe(expected);
  });

  it('tells of a key that two commands took at once for two messages', async () => {
    const first = await use('one message');
    const second = await use('another');
    const same = await use('one message');
    expect(second.replayed('m1', false)).toBe('other');
    first.accepted('m1');
    expect([second.replayed('m1', false), second.replayed('m1', true)]).toEqual(['other', 'other']);
    expect(same.replayed('m1', false)).toBe('same');
  });

  it('never takes a message for sent, or for not sent, that is the other, whatever was lost', async () => {
    const outcome = fc.constantFrom('answered', 'lost', 'never arrived', 'lost, then answered', 'refused');
    const sends = fc.array(fc.record({ text: fc.constantFrom('hi', 'ho', 'he'), outcome }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(sends, async (all) => {
        rmSync(file, { force: true });
        // The service keeps the first message under the key.
        let bound: string | null = null;
        for (const { text, outcome } of all) {
          const used = await use(text);
          if (outcome === 'never arrived') continue;
          // Only a key that is bound to nothing can be refused.
          if (outcome === 'refused' && bound === null) used.resolved();
          if (outcome === 'refused') continue;
          const isReplay = bound !== null || outcome === 'lost, then answered';
          bound ??= text;
          if (outcome === 'lost') continue;
          if (!isReplay) {
            used.accepted('m1');
            continue;
          }
          const replayed = used.replayed('m1', outcome === 'lost, then answered');
          if (replayed === 'other') expect(bound).not.toBe(text);
          else if (replayed !== 'either') expect(bound).toBe(text);
          if (replayed === 'same') used.accepted('m1');
          if (replayed === 'other') used.notSent();
        }
      }),
      { numRuns: 500 },
    );
  });

  it('lasts for a command whose file is lost meanwhile', async () => {
    await commands('ho accepted as m1');
    const used = await use('hi');
    rmSync(file);
    expect(used.replayed('m1', false)).toBe('other');
  });

  it('is private, and has neither keys nor messages in it', async () => {
    (await use('a text for nobody')).accepted('m1');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, 'state')).mode & 0o777).toBe(0o700);
    expect(readFileSync(file, 'utf8')).toMatch(
      /^urtuu used-keys 1 [0-9a-f]{32}\n\?(?: [0-9a-f]{32}){2}\n=(?: [0-9a-f]{32}){3}\n$/,
    );
  });

  it('goes on after a line that was cut short', async () => {
    await commands('hi accepted as m1');
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20));
    expect((await use('ho', 'order-8')).replayed('m2', false)).toBe('unknown');
    expect((await use('ho', 'order-8')).replayed('m2', false)).toBe('same');
    expect((await use('hi')).replayed('m1', false)).toBe('same');
  });

  it.each(['', 'garbage\n', '\0'.repeat(1_000), 'x'.repeat(2_000_000)])(
    'begins anew where it is damaged',
    async (text) => {
      await use('hi');
      writeFileSync(file, text);
      await commands('hi accepted as m1');
      expect((await use('ho')).replayed('m1', false)).toBe('other');
      expect(statSync(file).mode & 0o777).toBe(0o600);
    },
  );

  it('leaves a file of a later version alone', async () => {
    await use('hi');
    const later = `urtuu used-keys 2 of tomorrow\n`;
    writeFileSync(file, later.replace('of tomorrow', 'a'.repeat(32)));
    await expect(use('hi')).rejects.toThrow('no memory');
    expect(readFileSync(file, 'utf8')).toContain('used-keys 2');
  });

  it('stays small, and keeps the newest', async () => {
    (await use('hi', 'old')).accepted('m0');
    const [header] = readFileSync(file, 'utf8').split('\n');
    const lines = Array.from(
      { length: 6_000 },
      (_, at) => `? ${String(at).padStart(32, '0')} ${'1'.repeat(32)}`,
    );
    writeFileSync(file, `${[header, ...lines].join('\n')}\n`);
    (await use('hi', 'new')).accepted('m1');
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(3_000);
    expect((await use('ho', 'new')).replayed('m1', false)).toBe('other');
    expect(readdirSync(join(home, 'state'))).toEqual(['used-keys']);
  });

  it('is not read through a link', async () => {
    await use('hi');
    rmSync(file);
    const elsewhere = join(home, 'elsewhere');
    writeFileSync(elsewhere, 'precious');
    symlinkSync(elsewhere, file);
    await use('hi');
    expect(readFileSync(elsewhere, 'utf8')).toBe('precious');
  });
});
