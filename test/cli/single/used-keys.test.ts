import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type KeyAccount, type Replayed, UsedKey, UsedKeys } from '../../../src/cli/single/used-keys.js';
import { emptyFolder } from '../../support/folders.js';

const keyHash = 'a'.repeat(32);

const otherKey = 'b'.repeat(32);
const mine = '1'.repeat(32);
const theirs = '2'.repeat(32);
const shared = 'c'.repeat(32);
const recipient = 'e'.repeat(32);
/** By another API key of the same service. */
const elsewhere = (sign: string, message: string) => `${sign} ${otherKey} ${message} ${shared} ${recipient}`;

describe('what a replay under a key answers', () => {
  it.each<[string, lines: string[], repeated: boolean, Replayed]>([
    ['a key that is new here', [], false, 'unknown'],
    ['a key that is new here, after an attempt without an answer', [], true, 'unknown'],
    ['a key of another message only', [`= ${otherKey} ${theirs}`], false, 'unknown'],
    ['the same message, accepted', [`? ${keyHash} ${mine}`, `= ${keyHash} ${mine}`], false, 'same'],
    ['another message, accepted', [`? ${keyHash} ${theirs}`, `= ${keyHash} ${theirs}`], false, 'other'],
    ['another message, accepted, after an attempt', [`= ${keyHash} ${theirs}`], true, 'other'],
    ['the same message, unanswered', [`? ${keyHash} ${mine}`], false, 'same'],
    ['another message, unanswered', [`? ${keyHash} ${theirs}`], false, 'other'],
    ['another message, unanswered, after an attempt', [`? ${keyHash} ${theirs}`], true, 'either'],
    ['both, unanswered', [`? ${keyHash} ${theirs}`, `? ${keyHash} ${mine}`], false, 'either'],
    [
      'another message that was refused',
      [`? ${keyHash} ${theirs}`, `- ${keyHash} ${theirs}`],
      false,
      'unknown',
    ],
    [
      'another one, accepted before this one',
      [`= ${keyHash} ${theirs}`, `= ${keyHash} ${mine}`],
      false,
      'same',
    ],
    ['the same message by another API key, accepted', [elsewhere('=', mine)], false, 'same'],
    ['the same message by another API key, unanswered', [elsewhere('?', mine)], false, 'same'],
    ['another message by another API key, accepted', [elsewhere('=', theirs)], false, 'either'],
    ['another message by another API key, unanswered', [elsewhere('?', theirs)], true, 'either'],
    [
      'another message by another API key, refused',
      [elsewhere('?', theirs), elsewhere('-', theirs)],
      false,
      'unknown',
    ],
    ['both, accepted by two other API keys', [elsewhere('=', mine), elsewhere('=', theirs)], false, 'either'],
    [
      'the same message, whatever another API key sent',
      [`= ${keyHash} ${mine} ${shared} ${recipient}`, elsewhere('=', theirs)],
      false,
      'same',
    ],
    [
      'damaged lines',
      ['', '?', `! ${keyHash} ${theirs}`, `= ${keyHash}`, `= ${keyHash} ${theirs}0`],
      false,
      'unknown',
    ],
  ])('%s', (_, lines, repeated, replayed) => {
    expect(new UsedKey({ own: keyHash, shared, recipient }, mine, lines, () => {}).replayed(repeated)).toBe(
      replayed,
    );
  });

  it('is written before the request, and again when the answer is known', () => {
    const written: string[] = [];
    new UsedKey({ own: keyHash, shared, recipient }, mine, [], (line) => written.push(line)).accepted();
    new UsedKey({ own: keyHash, shared, recipient }, mine, [], (line) => written.push(line)).notSent();
    expect(written).toEqual(
      ['?', '=', '?', '-'].map((sign) => `${sign} ${keyHash} ${mine} ${shared} ${recipient}`),
    );
  });

  it('leaves open what an earlier command left open', () => {
    const written: string[] = [];
    new UsedKey({ own: keyHash, shared, recipient }, mine, [`? ${keyHash} ${mine}`], (line) =>
      written.push(line),
    ).notSent();
    expect(written).toEqual([]);
  });
});

describe('the file of used keys', () => {
  const home = emptyFolder();
  let file: string;
  beforeEach(() => {
    file = join(home, 'state', 'used-keys');
  });

  const account = { service: 'https://api.example.mn/v1', apiKey: 'one' };
  const sms = (text: string, to = '99112233') => ['sms', { to, text }] as const;
  const use = async (
    text: string,
    name = 'order-7',
    { to = '99112233', ...changed }: Partial<KeyAccount & { to: string }> = {},
  ) => {
    const keys = await UsedKeys.open(file);
    if (keys === null) throw new Error('no memory');
    return keys.use({ ...account, ...changed }, name, sms(text, to));
  };

  it('remembers from one command to the next, by account and key', async () => {
    (await use('hi')).accepted();
    expect((await use('hi')).replayed(false)).toBe('same');
    expect((await use('ho')).replayed(false)).toBe('other');
    expect((await use('ho', 'order-8')).replayed(false)).toBe('unknown');
    expect((await use('ho', 'order-7', { service: 'https://example.com' })).replayed(false)).toBe('unknown');
  });

  it('does not take the message of another API key for the one that was sent', async () => {
    (await use('hi')).accepted();
    const other = await use('ho', 'order-7', { apiKey: 'two' });
    expect(other.replayed(false)).toBe('either');
    other.notSent();
    expect((await use('hi', 'order-7', { apiKey: 'two' })).replayed(false)).toBe('same');
    expect((await use('ho', 'order-7', { apiKey: 'three', to: '99112234' })).replayed(true)).toBe('unknown');
  });

  it('takes no erased message of another API key for this one', async () => {
    (await use('hi')).accepted();
    const other = await use('hi', 'order-7', { apiKey: 'two', to: '99112234' });
    expect(other.replayed(false, true)).toBe('either');
    expect(other.replayed(false, false)).toBe('unknown');
  });

  it('leaves a message open that another API key left open', async () => {
    await use('hi');
    expect((await use('ho', 'order-7', { apiKey: 'two' })).isOpen).toBe(false);
    const other = await use('hi', 'order-7', { apiKey: 'two' });
    expect(other.isOpen).toBe('elsewhere');
    other.resolved();
    expect((await use('hi', 'order-7', { apiKey: 'three' })).isOpen).toBe('elsewhere');
  });

  it('tells of a key that two commands took at once for two messages', async () => {
    const one = await UsedKeys.open(file);
    const two = await UsedKeys.open(file);
    const first = one?.use(account, 'k', sms('one message'));
    const second = two?.use(account, 'k', sms('another'));
    const same = (await UsedKeys.open(file))?.use(account, 'k', sms('one message'));
    expect(second?.replayed(false)).toBe('other');
    first?.accepted();
    expect([second?.replayed(false), second?.replayed(true)]).toEqual(['other', 'other']);
    expect(same?.replayed(false)).toBe('same');
  });

  it('is private, and has neither keys nor messages in it', async () => {
    (await use('a text for nobody')).accepted();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, 'state')).mode & 0o777).toBe(0o700);
    expect(readFileSync(file, 'utf8')).toMatch(
      /^urtuu used-keys 1 [0-9a-f]{32}\n(?:[?=](?: [0-9a-f]{32}){4}\n){2}$/,
    );
  });

  it('goes on after a line that was cut short', async () => {
    (await use('hi')).accepted();
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20));
    expect((await use('ho', 'order-8')).replayed(false)).toBe('unknown');
    expect((await use('ho', 'order-8')).replayed(false)).toBe('same');
    expect((await use('hi')).replayed(false)).toBe('same');
  });

  it.each(['', 'garbage\n', '\0'.repeat(1_000), 'x'.repeat(2_000_000)])(
    'begins anew where it is damaged',
    async (text) => {
      await use('hi');
      writeFileSync(file, text);
      (await use('hi')).accepted();
      expect((await use('ho')).replayed(false)).toBe('other');
      expect(statSync(file).mode & 0o777).toBe(0o600);
    },
  );

  it('leaves a file of a later version alone', async () => {
    await use('hi');
    const later = `urtuu used-keys 2 of tomorrow\n`;
    writeFileSync(file, later.replace('of tomorrow', 'a'.repeat(32)));
    expect(await UsedKeys.open(file)).toBe(null);
    expect(readFileSync(file, 'utf8')).toContain('used-keys 2');
  });

  it('stays small, and keeps the newest', async () => {
    (await use('hi', 'old')).accepted();
    const [header] = readFileSync(file, 'utf8').split('\n');
    const lines = Array.from({ length: 6_000 }, (_, at) => `= ${String(at).padStart(32, '0')} ${mine}`);
    writeFileSync(file, `${[header, ...lines].join('\n')}\n`);
    (await use('hi', 'new')).accepted();
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(3_000);
    expect((await use('ho', 'new')).replayed(false)).toBe('other');
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
