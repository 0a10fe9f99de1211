import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from '../../../src/cli/text/suggest.js';
import { testFolder } from '../../support/folders.js';
import { run } from '../../support/run.js';

describe('a mistyped word', () => {
  it.each([
    ['sned', ['send', 'sendmail', 'show'], ['send']],
    ['SMS', ['sms', 'email'], ['sms']],
    ['jsn', ['json', 'ndjson', 'csv'], ['json']],
    ['--idem', ['--idempotency-key', '--wait'], ['--idempotency-key']],
    ['--wiat-timeout', ['--wait', '--wait-timeout'], ['--wait-timeout']],
    ['xml', ['json', 'table'], []],
    ['', ['a', 'send'], ['a']],
    ['x', ['sms', 'email'], []],
  ])('%s of %j is like %j', (word, candidates, found) => expect(nearest(word, candidates)).toEqual(found));

  it.each([
    ['sms send 99112233 hi --at 10:00', '--at: the service sends at once'],
    ['sms bulk list.csv --text hi --at 10:00', '--at: the service sends at once'],
    ['email send a@b.mn --subject x --text y --attach f', '--attach: the service offers no attachments'],
    ['sms send 99112233 88112233 hi', 'For several recipients, send a list (urtuu sms bulk --help).'],
    ['balance --at 1', "unknown option '--at'"],
    ["sms send 99112233 '-50% sale'", "before a text that begins with a dash: -- '-50% today'. See:"],
    ["sms send 99112233 '--50% sale'", "before a text that begins with a dash: -- '-50% today'. See:"],
    ["sms send 99112233 '-q is short'", "before a text that begins with a dash: -- '-50% today'. See:"],
    ["email send a@b.mn '-50% sale'", "before a text that begins with a dash: --text='-50% today'. See:"],
    ["balance '-50% sale'", "unknown option '-50% sale' See:"],
  ])('is not an option that the service does not offer: %s', async (line, words) => {
    const { code, stderr } = await run(line);
    expect(code).toBe(2);
    expect(stderr.replace(/\s+/g, ' ')).toContain(words);
  });

  it('is asked about with at most four others', () => {
    expect(didYouMean('ab', ['ac', 'ad', 'ae', 'af', 'ag'])).toBe('Did you mean ac, ad, ae or af? ');
    expect(didYouMean('nothing', ['ac'])).toBe('');
  });

  it('finds the word after any swap of neighbours', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,12}$/), fc.nat(), (word, at) => {
        const index = at % (word.length - 1);
        const swapped = word.slice(0, index) + word[index + 1] + word[index] + word.slice(index + 2);
        expect(nearest(swapped, [word])).toEqual([word]);
      }),
    );
  });
});

describe('did you mean', () => {
  it.each(['balance x', 'jobs show a b', 'messages list --since yesterday', 'messages list --limit 0'])(
    'suggests nothing where nothing was mistyped: %s',
    async (line) => {
      const { code, stderr } = await run(line, { env: {} });
      expect(code).toBe(2);
      expect(stderr).not.toContain('Did you mean');
    },
  );

  it.each([
    ['sned 99112233 hi', 'urtuu sms send or urtuu email send?'],
    ['send 99112233 hi', 'urtuu sms send or urtuu email send?'],
    ['bulk list.csv', 'urtuu sms bulk or urtuu email bulk?'],
    ['mesages get m-1', 'urtuu messages?'],
    ['jobs lst', 'urtuu jobs list?'],
    ['help bulk', 'urtuu help sms bulk or urtuu help email bulk?'],
    ['help exit-code', 'urtuu help exit-codes?'],
    ['help verfy', 'urtuu help verify or urtuu help service verify?'],
    ['completion zhs', 'zsh?'],
    ['balance --sandbx', '--sandbox? See: urtuu help options'],
    ['--sandbx balance', '--sandbox? See: urtuu help options'],
    ['sms send --dryrun', '--dry-run? See: urtuu sms send --help'],
    ['sms send --txt=secret 99112233', '--text?'],
    ['balance -o jsn', 'json? See: urtuu help options'],
    ['balance --columns balanc', 'balance?'],
    ['verify create 99112233 --channel smss', 'sms?'],
  ])('%s', async (line, found) => {
    const { code, stderr } = await run(line, { env: {} });
    expect(code).toBe(2);
    expect(stderr).toContain(`Did you mean ${found}`);
    expect(stderr).not.toContain('secret');
  });

  it('names the commands of a group where nothing is like the word', async () => {
    const { code, stderr } = await run('balances', { env: {} });
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('urtuu balance?') });
    expect((await run('keys send', { env: {} })).stderr).toContain(
      'urtuu keys has: create, list, revoke, example.',
    );
    expect((await run('xyzzy', { env: {} })).stderr).not.toContain('Did you mean');
  });
});

it('asks about profiles and jobs', async () => {
  const home = testFolder();
  const folder = join(home, '.config', 'urtuu');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), '{"profiles": {"work": {}, "home": {}}}', { mode: 0o600 });
  mkdirSync(join(home, '.local', 'state', 'urtuu', 'jobs', 'july-offer'), { recursive: true });
  const profile = await run('profiles use wrok', { home, env: {} });
  expect(profile).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean work? Profiles:') });
  const job = await run('jobs show july-ofer', { home, env: {} });
  expect(job).toMatchObject({ code: 12, stderr: expect.stringContaining('Did you mean july-offer? See:') });
});
