import { createHash, createVerify } from 'node:crypto';

/** Verifies the DKIM-Signature of a mail by RFC 6376 (relaxed/relaxed, RSA-SHA256): its tags, or the problem. */
export function verifyDkim(
  raw: string,
  publicKey: string,
): { tags: Map<string, string> } | { problem: string } {
  const end = raw.indexOf('\r\n\r\n');
  const fields = raw.slice(0, end).split(/\r\n(?![ \t])/);
  const body = raw.slice(end + 4);
  const signature = fields.find((field) => /^dkim-signature:/i.test(field));
  if (signature === undefined) return { problem: 'no signature' };
  const written = signature.slice(signature.indexOf(':') + 1).replace(/\r\n/g, '');
  const tags = new Map(
    written
      .split(';')
      .filter((tag) => tag.trim() !== '')
      .map((tag) => [tag.slice(0, tag.indexOf('=')).trim(), tag.slice(tag.indexOf('=') + 1).trim()]),
  );
  const tag = (name: string) => (tags.get(name) ?? '').replace(/\s/g, '');
  if (tag('v') !== '1' || tag('a') !== 'rsa-sha256' || tag('c') !== 'relaxed/relaxed')
    return { problem: 'another algorithm' };
  const hash = createHash('sha256').update(relaxedBody(body), 'latin1').digest('base64');
  if (hash !== tag('bh')) return { problem: 'the body was changed' };
  const left = [...fields];
  const signed = tag('h')
    .split(':')
    .flatMap((name) => {
      const index = left.findLastIndex((field) => field.toLowerCase().startsWith(`${name.toLowerCase()}:`));
      return index < 0 ? [] : left.splice(index, 1);
    })
    .map((field) => `${relaxedField(field)}\r\n`);
  const unsigned = relaxedField(signature.replace(/(\bb=)[^;]*$/, '$1'));
  const verifier = createVerify('RSA-SHA256').update(signed.join('') + unsigned, 'latin1');
  return verifier.verify(publicKey, tag('b'), 'base64') ? { tags } : { problem: 'a header was changed' };
}

function relaxedField(field: string): string {
  const colon = field.indexOf(':');
  const value = field
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return `${field.slice(0, colon).trim().toLowerCase()}:${value}`;
}

function relaxedBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
  const text = lines.join('\r\n').replace(/(?:\r\n)*$/, '');
  return text === '' ? '' : `${text}\r\n`;
}
