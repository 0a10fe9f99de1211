import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Submission } from '../../../../src/service/carriers/carrier.js';
import { composeMail, NotReady } from '../../../../src/service/carriers/smtp/mail.js';
import { verifyDkim } from '../../../support/dkim.js';
import { fileFolder } from '../../../support/folders.js';
import { mailOf } from '../../../support/mails.js';

const pem = { type: 'pkcs8', format: 'pem' } as const;
const spki = { type: 'spki', format: 'pem' } as const;
const newKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2_048, privateKeyEncoding: pem, publicKeyEncoding: spki });
const key = newKey();
const folder = fileFolder();
let file: string;

beforeAll(() => {
  file = join(folder, 'dkim.pem');
  writeFileSync(file, key.privateKey);
});

const sender = { from: 'no-reply@example.mn', bounces: null };
const submission = (changes: Partial<Submission> = {}) =>
  mailOf({
    from: 'Дэлгүүр <no-reply@shop.mn>',
    ownDomain: { domain: 'shop.mn', selector: 'mail', key_file: file },
    ...changes,
  });
/** As it goes over the wire. */
const composed = async (changes: Partial<Submission> = {}) =>
  (await composeMail(submission(changes), sender, 0)).bytes.toString('latin1').replace(/\r?\n/g, '\r\n');

describe('a mail from an own domain with a key', () => {
  it('in other letters is signed for the domain as mail spells it', async () => {
    const domain = 'жишээ.мон';
    const own = {
      from: `Shop <no-reply@${domain}>`,
      ownDomain: { domain, selector: 'mail', key_file: file },
    };
    const verified = verifyDkim(await composed(own), key.publicKey);
    expect(verified).toMatchObject({ tags: expect.any(Map) });
    if ('tags' in verified) expect(verified.tags.get('d')).toBe('xn--f1ae2cuaa.xn--l1acc');
  });

  it.each(['\r', '\n', '\r\n', '\n\r', '\r\r\n', 'ө\r', '\r\n\r'])(
    'has no line end but that of mail where a text has %j, which would break its signature',
    async (end) => {
      const text = `a${end}b${end}${end}c`;
      for (const bodies of [{ text }, { text: null, html: text }, { text, html: text }]) {
        const { bytes } = await composeMail(submission(bodies), sender, 0);
        expect(bytes.toString('latin1')).not.toMatch(/\r(?!\n)|(?<!\r)\n/);
        expect(verifyDkim(bytes.toString('latin1'), key.publicKey)).not.toHaveProperty('problem');
      }
    },
  );

  it('is signed for that domain', async () => {
    const verified = verifyDkim(
      await composed({ html: '<p>Сайн уу</p>', replyTo: 'help@shop.mn' }),
      key.publicKey,
    );
    if ('problem' in verified) throw new Error(verified.problem);
    expect(Object.fromEntries(verified.tags)).toMatchObject({ d: 'shop.mn', s: 'mail', v: '1' });
    const fields = verified.tags.get('h')?.replace(/\s/g, '').split(':');
    const needed = [
      'from',
      'to',
      'subject',
      'date',
      'message-id',
      'reply-to',
      'mime-version',
      'content-type',
    ];
    expect(fields).toEqual(expect.arrayContaining(needed));
  });

  it('covers where to unsubscribe', async () => {
    const verified = verifyDkim(
      await composed({ listUnsubscribe: 'https://shop.mn/u?to={to}' }),
      key.publicKey,
    );
    if ('problem' in verified) throw new Error(verified.problem);
    const fields = verified.tags.get('h')?.replace(/\s/g, '').split(':');
    expect(fields).toEqual(expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']));
  });

  it('is signed whatever it says', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'ө', ' ', '\t', '\r\n', '\n', '.', '=', '😀'),
      maxLength: 200,
    });
    await fc.assert(
      fc.asyncProperty(text, fc.string({ unit: 'grapheme', maxLength: 80 }), async (body, subject) => {
        const raw = await composed({ text: `${body}.`, subject });
        expect(verifyDkim(raw, key.publicKey)).not.toHaveProperty('problem');
      }),
      { numRuns: 50 },
    );
  });

  it.each<[string, RegExp, string]>([
    ['body', /0KHQsNC50L0g/, 'MDAwMDAwMDAw'],
    ['sender', /<no-reply@shop\.mn>/, '<bat@shop.mn>'],
    ['subject', /^Subject: .*/m, 'Subject: Free'],
  ])('is not valid any more with another %s', async (_, found, other) => {
    const raw = await composed();
    expect(raw).toMatch(found);
    expect(verifyDkim(raw.replace(found, other), key.publicKey)).toHaveProperty('problem');
    expect(verifyDkim(raw, newKey().publicKey)).toHaveProperty('problem');
  });

  it('is signed with the key that its file has now', async () => {
    const path = join(folder, 'changed.pem');
    writeFileSync(path, newKey().privateKey);
    const ownDomain = { domain: 'shop.mn', selector: 'mail', key_file: path };
    expect(verifyDkim(await composed({ ownDomain }), key.publicKey)).toHaveProperty('problem');
    writeFileSync(path, key.privateKey);
    expect(verifyDkim(await composed({ ownDomain }), key.publicKey)).not.toHaveProperty('problem');
  });

  it.skipIf(process.platform === 'win32')(
    'is not sent where others can change the key, and warns where they can read it',
    async () => {
      const path = join(folder, 'exposed.pem');
      const ownDomain = { domain: 'shop.mn', selector: 'mail', key_file: path };
      const warnings: string[] = [];
      const compose = () =>
        composeMail(submission({ ownDomain }), sender, 0, (warning) => warnings.push(warning));
      writeFileSync(path, key.privateKey);
      chmodSync(path, 0o644);
      for (let mails = 0; mails < 2; mails += 1) await compose();
      expect(warnings).toEqual([expect.stringContaining(`Run: chmod 600 ${path}`)]);
      chmodSync(path, 0o666);
      await expect(compose()).rejects.toThrow(NotReady);
    },
  );

  it.each([
    ['is missing', null],
    ['is none', 'no key'],
    [
      'is of another kind',
      generateKeyPairSync('ed25519', { privateKeyEncoding: pem, publicKeyEncoding: spki }).privateKey,
    ],
    ['is public', key.publicKey],
  ])('is not sent where the key %s', async (_, content) => {
    const path = join(folder, 'bad.pem');
    rmSync(path, { force: true });
    if (content !== null) writeFileSync(path, content);
    const ownDomain = { domain: 'shop.mn', selector: 'mail', key_file: path };
    await expect(composed({ ownDomain })).rejects.toThrow(NotReady);
  });
});

describe('a mail is not signed', () => {
  it.each<[string, Partial<Submission>]>([
    ['without a key', { ownDomain: { domain: 'shop.mn' } }],
    ['without an own domain', { ownDomain: null, from: 'A <no-reply@mail.urtuu.example>' }],
    ['from another domain, as before its project had one', { from: 'A <no-reply@mail.urtuu.example>' }],
  ])('%s', async (_, changes) => {
    expect(await composed(changes)).not.toMatch(/dkim-signature/i);
  });
});
