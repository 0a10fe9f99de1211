import { isUtf8 } from 'node:buffer';
import PostalMime, { type Email } from 'postal-mime';
import { wholeTextDecoder } from '../../contract/index.js';
import { inputError } from '../errors.js';

const nameIt = 'Name the charset in the Content-Type header, for example: text/plain; charset=windows-1251';

/** Names of ASCII that TextDecoder treats as windows-1252. */
const ascii = new Set(['us-ascii', 'ascii', 'ansi_x3.4-1968']);

/** The WHATWG name of a charset: ASCII and unknown ones are UTF-8, as written by programs without a locale. */
function encodingOf(charset: string): string {
  try {
    return ascii.has(charset) ? 'utf-8' : new TextDecoder(charset).encoding;
  } catch {
    return 'utf-8';
  }
}

/** Null if the bytes are invalid in the charset. */
function decoded(bytes: Uint8Array, charset: string): string | null {
  const [first, second] = bytes;
  const isBigEndian = first === 0xfe && second === 0xff;
  const isMarked = isBigEndian || (first === 0xff && second === 0xfe);
  // Without its mark, mails use one byte order and web pages the other.
  if (charset === 'utf-16' && !isMarked) return null;
  const encoding = charset === 'utf-16' && isBigEndian ? 'utf-16be' : encodingOf(charset);
  try {
    return wholeTextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

interface Part {
  content: ArrayBuffer | null;
  contentType: { parsed: { params: Record<string, string> } };
  getTextContent(): string;
}

const { root } = new PostalMime() as unknown as { root: object };
const part = Object.getPrototypeOf(root) as Part;
const { getTextContent } = part;

/**
 * The parser reads ASCII and unknown charsets as windows-1252, and replaces invalid bytes. Here it does not, not even
 * in mails inside a mail, which get their own parsers. Throws CliError.
 */
export async function parseMail(message: Buffer): Promise<Email> {
  part.getTextContent = strictText;
  try {
    return await PostalMime.parse(message);
  } finally {
    part.getTextContent = getTextContent;
  }
}

function strictText(this: Part): string {
  const { params } = this.contentType.parsed;
  const charset = params.charset?.trim().toLowerCase() ?? '';
  const text = decoded(new Uint8Array(this.content ?? []), charset);
  if (text === null) {
    const isNamed = charset !== '' && (charset === 'utf-16' || encodingOf(charset) !== 'utf-8');
    throw inputError(isNamed ? `the text is not valid ${charset}` : 'the text is not UTF-8', nameIt);
  }
  this.content = new TextEncoder().encode(text).buffer;
  params.charset = 'utf-8';
  return getTextContent.call(this);
}

const contentType = /^content-type:(?:[^\r\n]|\r?\n[ \t])*?\bcharset[ \t]*=[ \t]*"?([^\s";]+)/im;
const encodedWord = /=\?([^?\s*]+)(?:\*[^?\s]*)?(\?[QB]\?[^?]*\?=)/gi;

/**
 * Converts to UTF-8: 8-bit headers, which use the charset of the message, and encoded words of an unknown charset.
 * `checked` throws for a header with invalid bytes.
 */
export function utf8Headers(raw: Buffer): { message: Buffer; checked(value: string, name: string): string } {
  const end = /\r?\n\r?\n/.exec(raw.toString('latin1'))?.index ?? raw.length;
  const written = raw.toString('latin1', 0, end);
  const charset = contentType.exec(written)?.[1]?.toLowerCase() ?? '';
  const headers = Buffer.from(
    written
      .split('\n')
      .map((line) => utf8Line(line, charset))
      .join('\n'),
    'latin1',
  );
  const hasReplacements = headers.includes('\ufffd');
  return {
    message: Buffer.concat([headers, raw.subarray(end)]),
    checked(value, name) {
      if (hasReplacements || !value.includes('\ufffd')) return value;
      throw inputError(`the ${name} is not valid in its charset`, nameIt);
    },
  };
}

/** Each character of either line stands for one byte. */
function utf8Line(line: string, charset: string): string {
  const bytes = Buffer.from(line, 'latin1');
  const text = isUtf8(bytes) || encodingOf(charset).startsWith('utf-16') ? null : decoded(bytes, charset);
  return (text === null ? line : Buffer.from(text).toString('latin1')).replace(
    encodedWord,
    (word, label: string, rest: string) =>
      encodingOf(label.toLowerCase()) === 'utf-8' ? `=?utf-8${rest}` : word,
  );
}
