import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import type { Submission } from '../../../../src/service/carriers/carrier.js';
import { bounceAddress, messageIdOfBounce } from '../../../../src/service/carriers/smtp/bounce-address.js';
import { composeMail } from '../../../../src/service/carriers/smtp/mail.js';
import { formatMailbox } from '../../../../src/service/mailbox.js';
import { mailOf } from '../../../support/mails.js';

const id = '018f4e8a-7c11-7abc-8def-0123456789ab';
const date = Date.UTC(2026, 10, 22, 3, 30);
const sender = { from: 'no-reply@example.mn', bounces: null };

const from = formatMailbox({ name: 'Урту', address: 'no-reply@mail.urtuu.example' });
const submission = (changes: Partial<Submission> = {}) => mailOf({ reference: id, from, ...changes });

async function composed(changes: Partial<Submission> = {}) {
  const { from, to, bytes } = await composeMail(submission(changes), sender, date);
  const raw = bytes.toString();
  const headers = raw.slice(0, raw.indexOf('\r\n\r\n'));
  return { from, to, raw, headers, mail: await PostalMime.parse(bytes) };
}

describe('a mail', () => {
  it('has the headers of an automatic one, the same Message-ID each time', async () => {
    const { from, to, headers, mail } = await composed({ replyTo: 'help@example.mn' });
    expect([from, to]).toEqual(['no-reply@example.mn', 'bold@example.com']);
    expect(mail).toMatchObject({
      from: { name: 'Урту', address: 'no-reply@example.mn' },
      to: [{ address: 'bold@example.com' }],
      replyTo: [{ address: 'help@example.mn' }],
      subject: 'Тавтай морил',
      messageId: `<${id}@example.mn>`,
      date: '2026-11-22T03:30:00.000Z',
      text: 'Сайн уу',
    });
    expect(headers).toContain('MIME-Version: 1.0');
    expect(headers).toContain('Auto-Submitted: auto-generated');
    expect(headers).toMatch(/^[\x20-\x7e\r\n]*$/);
    expect((await composed({ attempt: 2 })).mail.messageId).toBe(mail.messageId);
  });

  it('has text and html as alternatives', async () => {
    const { headers, mail } = await composed({ html: '<p>Сайн уу</p>' });
    expect(headers).toContain('Content-Type: multipart/alternative');
    expect([mail.text, mail.html]).toEqual(['Сайн уу', '<p>Сайн уу</p>']);
    expect(mail.attachments).toEqual([]);
  });

  it('comes from the own domain of its project', async () => {
    const { from, mail } = await composed({ from: 'Shop <no-reply@shop.mn>' });
    expect(from).toBe('no-reply@shop.mn');
    expect(mail.from).toEqual({ name: 'Shop', address: 'no-reply@shop.mn' });
    expect(mail.messageId).toBe(`<${id}@shop.mn>`);
  });

  it('spells an own domain in other letters as mail does, on the envelope too', async () => {
    const { from, headers, mail } = await composed({ from: 'Урту <no-reply@жишээ.мон>' });
    expect([from, mail.messageId]).toEqual([
      'no-reply@xn--f1ae2cuaa.xn--l1acc',
      `<${id}@xn--f1ae2cuaa.xn--l1acc>`,
    ]);
    expect(headers).toMatch(/^[\x20-\x7e\r\n]*$/);
  });

  it('reads no file and no address, whatever its texts are', async () => {
    const html = '<img src="file:///etc/passwd"><img src="data:image/png;base64,AAAA">';
    const { raw, mail } = await composed({ text: '/etc/passwd', html });
    expect(raw).not.toContain('root:');
    expect([mail.text, mail.html, mail.attachments]).toEqual(['/etc/passwd\n', `${html}\n`, []]);
  });

  it('carries name and subject, and takes no header from them', async () => {
    const injected = fc.constantFrom(
      '\r\nBcc: x@y.mn',
      '\nBcc: x@y.mn',
      '\r\n\r\nbody',
      '<x@y.mn>',
      ', x@y.mn',
    );
    const words = fc.array(fc.oneof(injected, fc.string({ unit: 'grapheme' }), fc.constant('"\\,;:@ ')), {
      maxLength: 4,
    });
    const text = words.map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(text, text, async (name, subject) => {
        const from = formatMailbox({ name, address: 'no-reply@shop.mn' });
        const { headers, mail } = await composed({ from, subject });
        expect(mail.from?.address).toBe('no-reply@shop.mn');
        const names = headers.split('\r\n').flatMap((line) => /^([^\s:]+):/.exec(line)?.[1] ?? []);
        expect(new Set(names).size).toBe(names.length);
        expect(names).not.toContain('Bcc');
        expect(mail.bcc ?? []).toEqual([]);
        expect(mail.text).toBe('Сайн уу');
      }),
    );
  });

  it('carries every name of one line as it is', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(name, async (given) => {
        const plain = given.replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '').trim();
        fc.pre(plain !== '');
        const from = formatMailbox({ name: plain, address: 'no-reply@shop.mn' });
        expect((await composed({ from })).mail.from?.name).toBe(plain);
      }),
    );
  });
});

describe('where to unsubscribe', () => {
  const header = async (changes: Partial<Submission>) => {
    const { headers } = await composed(changes);
    return headers.match(/^List-Unsubscribe.*$/gm);
  };

  it('is in a header, by web or mail, for the recipient', async () => {
    expect(
      await header({ listUnsubscribe: 'https://shop.mn/unsubscribe?to={to}', to: 'a+b@shop.mn' }),
    ).toEqual([
      'List-Unsubscribe: <https://shop.mn/unsubscribe?to=a%2Bb%40shop.mn>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ]);
    expect(await header({ listUnsubscribe: 'mailto:stop@shop.mn?subject={to}' })).toEqual([
      'List-Unsubscribe: <mailto:stop@shop.mn?subject=bold%40example.com>',
    ]);
  });

  it('is awaited: nothing is sent that a page of the service is to have, and its address is not known', async () => {
    await expect(composed({ listUnsubscribe: 'hosted' })).rejects.toMatchObject({ code: 'no public URL' });
  });

  it('stands in no other mail', async () => {
    expect(await header({})).toBeNull();
    expect(await header({ listUnsubscribe: null })).toBeNull();
  });
});

describe('the address for bounces', () => {
  const bounces = { key: Buffer.alloc(32, 1), domain: 'bounce.example.mn' };
  const address = bounceAddress(id, bounces.key, bounces.domain);

  it('names its message in a local part of 64 characters, the same in every release', () => {
    expect(address).toBe(`bounce+${id}.7a491f8454001c249ef9@bounce.example.mn`);
    expect(address.indexOf('@')).toBe(64);
  });

  it('is another for each message and each service', () => {
    const macOf = (other: string) => other.slice(other.indexOf('.') + 1, other.indexOf('@'));
    const others = [
      bounceAddress(id.replace('0', '1'), bounces.key, bounces.domain),
      bounceAddress(id, Buffer.alloc(32, 2), bounces.domain),
    ];
    expect(new Set([address, ...others].map(macOf)).size).toBe(3);
  });

  it('gives its message back, in any letters, and only with its mac', () => {
    expect(messageIdOfBounce(address, bounces.key)).toBe(id);
    expect(messageIdOfBounce(address.toUpperCase(), bounces.key)).toBe(id);
    expect(messageIdOfBounce(address, Buffer.alloc(32, 2))).toBeNull();
    const local = [...address.slice(0, 64)].keys();
    for (const at of local) {
      const other = address[at] === 'a' ? 'b' : 'a';
      expect(messageIdOfBounce(address.slice(0, at) + other + address.slice(at + 1), bounces.key)).toBeNull();
    }
    fc.assert(fc.property(fc.string(), (given) => messageIdOfBounce(given, bounces.key) === null));
  });

  it('is the envelope sender, and stands in no header', async () => {
    const mail = await composeMail(submission(), { ...sender, bounces }, date);
    expect(mail.from).toBe(address);
    expect(mail.bytes.toString()).not.toContain('bounce+');
    expect((await PostalMime.parse(mail.bytes)).from?.address).toBe('no-reply@example.mn');
  });
});
