import { wholeTextDecoder } from './whole-text.js';

/** A header's name and colon, by RFC 5322. */
export const mailHeader = /^[!-9;-~]+[ \t]*:/;

/** Headers that no other text begins with: `Warning: disk full` is a text. */
export const commonMailHeader =
  /^(?:from|to|cc|bcc|subject|date|sender|reply-to|message-id|in-reply-to|references|return-path|received|mime-version|auto-submitted|precedence|priority|importance|(?:content|resent|list|x)-[!-9;-~]+)[ \t]*:/i;

/** How mails are read whose charset is missing, unknown or wrong: in `urtuu sendmail`, and for the inbox. */
export interface MailText {
  text: string;
  /** The charset that was chosen because the named one does not fit; null if it does, or if the text is UTF-8. */
  guessed: string | null;
}

/** Names of ASCII that TextDecoder treats as windows-1252. */
const ascii = new Set(['', 'us-ascii', 'ascii', 'ansi_x3.4-1968']);
/** What mail programs write, and TextDecoder does not know. */
const codePages: Record<string, string> = {
  '874': 'windows-874',
  '932': 'shift_jis',
  '936': 'gbk',
  '949': 'euc-kr',
  '950': 'big5',
};
/** No text in them is also UTF-8. */
const unlikeUtf8 = new Set(['windows-1251', 'windows-1252']);

/** The WHATWG name of a charset; null for ASCII and unknown ones, as written by programs without a locale. */
function encodingOf(charset: string): string | null {
  const label = charset.trim().toLowerCase();
  if (ascii.has(label)) return null;
  const [, page = ''] = /^(?:x-)?(?:cp|ms|ibm|windows-?)(\d{3})$/.exec(label) ?? [];
  try {
    return new TextDecoder(codePages[page] ?? label).encoding;
  } catch {
    return null;
  }
}

/** Null if the bytes are invalid in the encoding. */
function valid(bytes: Uint8Array, encoding: string): string | null {
  try {
    return wholeTextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

const lenient = (bytes: Uint8Array, encoding: string): MailText => ({
  text: wholeTextDecoder(encoding).decode(bytes),
  guessed: encoding,
});

/**
 * Reads a text in its charset. Valid UTF-8 outranks ASCII, unknown charsets and those in which it would be nonsense;
 * invalid UTF-8 is read in the likelier one of windows-1251 and windows-1252.
 */
export function mailText(bytes: Uint8Array, charset: string): MailText {
  const encoding = encodingOf(charset) ?? 'utf-8';
  if (/^utf-?16$/i.test(charset.trim())) return utf16Text(bytes);
  const utf8 = encoding === 'utf-8' || unlikeUtf8.has(encoding) ? valid(bytes, 'utf-8') : null;
  const text = utf8 ?? (encoding === 'utf-8' ? null : valid(bytes, encoding));
  if (text !== null) return { text, guessed: null };
  return encoding === 'utf-8' ? guessedText(bytes) : lenient(bytes, encoding);
}

/** Without its mark, mails use one byte order and web pages the other: Latin and Cyrillic letters show which. */
function utf16Text(bytes: Uint8Array): MailText {
  const [first, second] = bytes;
  const isBigEndian = first === 0xfe && second === 0xff;
  if (isBigEndian || (first === 0xff && second === 0xfe)) {
    const encoding = isBigEndian ? 'utf-16be' : 'utf-16le';
    const text = valid(bytes, encoding);
    return text === null ? lenient(bytes, encoding) : { text, guessed: null };
  }
  const highs: [number, number] = [0, 0];
  for (const [at, byte] of bytes.entries()) if (byte <= 4) highs[at % 2 === 0 ? 0 : 1] += 1;
  return lenient(bytes, highs[0] > highs[1] ? 'utf-16be' : 'utf-16le');
}

type Reading = 'utf-8' | 'repaired' | 'code page';

/** Programs without a locale mix charsets, and cut characters in two: each line is UTF-8 as far as it can be. */
function guessedText(bytes: Uint8Array): MailText {
  const guessed = codePageOf(bytes);
  const page = wholeTextDecoder(guessed);
  const utf8 = wholeTextDecoder('utf-8');
  const texts: string[] = [];
  const readings = { 'utf-8': utf8.decode, 'code page': page.decode, repaired: repairedBy(page.decode) };
  let begin = 0;
  let reading: Reading = 'utf-8';
  for (const [start, end] of linesOf(bytes)) {
    const next = readingOf(bytes, start, end);
    if (next !== reading) {
      texts.push(readings[reading](bytes.subarray(begin, start)));
      [begin, reading] = [start, next];
    }
  }
  texts.push(readings[reading](bytes.subarray(begin)));
  return { text: texts.join(''), guessed };
}

function* linesOf(bytes: Uint8Array): Generator<[start: number, end: number]> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at) + 1 || bytes.length;
    yield [at, end];
    at = end;
  }
}

/** A line in a code page has characters of UTF-8 too, but few. */
function readingOf(bytes: Uint8Array, start: number, end: number): Reading {
  let [characters, others] = [0, 0];
  for (let at = start; at < end; ) {
    const length = lengthAt(bytes, at);
    if (length > 1) characters += 1;
    else if (length === 0) others += 1;
    at += length || 1;
  }
  return others === 0 ? 'utf-8' : characters > others ? 'repaired' : 'code page';
}

/** The length of the character of UTF-8 (RFC 3629) at `at`; 0 if there is none. */
function lengthAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const second = bytes[at + 1] ?? 0;
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (let next = at + 2; next < at + length; next += 1) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

const repairedBy = (decode: (bytes: Uint8Array) => string) => (bytes: Uint8Array) => {
  const texts: string[] = [];
  for (let at = 0, begin = 0; at < bytes.length; ) {
    const isValid = lengthAt(bytes, at) > 0;
    while (at < bytes.length && lengthAt(bytes, at) > 0 === isValid) at += lengthAt(bytes, at) || 1;
    const run = bytes.subarray(begin, at);
    texts.push(isValid ? wholeTextDecoder('utf-8').decode(run) : decode(run));
    begin = at;
  }
  return texts.join('');
};

const isAsciiLetter = (byte = 0) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
const isHighLetter = (byte = 0) => byte >= 0xc0 || byte === 0xa8 || byte === 0xb8;

/** By its lines in a code page: accented letters are beside plain ones, Cyrillic ones beside each other. */
function codePageOf(bytes: Uint8Array): 'windows-1251' | 'windows-1252' {
  let cyrillic = 0;
  for (const [start, end] of linesOf(bytes)) {
    if (readingOf(bytes, start, end) !== 'code page') continue;
    for (let at = start; at < end; at += 1) {
      if (!isHighLetter(bytes[at])) continue;
      const [before, after] = [bytes[at - 1], bytes[at + 1]];
      if (isAsciiLetter(before) || isAsciiLetter(after)) cyrillic -= 1;
      else if (isHighLetter(before) || isHighLetter(after)) cyrillic += 1;
    }
  }
  return cyrillic > 0 ? 'windows-1251' : 'windows-1252';
}

const contentType = /^content-type:(?:[^\r\n]|\r?\n[ \t])*?\bcharset[ \t]*=[ \t]*"?([^\s";]+)/im;
/** Words of one charset and encoding, which may have parts of one character. */
const encodedWords =
  /=\?([^?\s*]+)(?:\*[^?\s]*)?\?([QB])\?[^?]*\?=(?:(?:\r?\n)?[ \t]+=\?\1(?:\*[^?\s]*)?\?\2\?[^?]*\?=)*/gi;

/**
 * The mail with headers in UTF-8: their 8-bit letters are in the charset of the mail, if it has one, and words of an
 * unknown charset are read as texts are.
 */
export function mailWithHeaders(raw: Uint8Array): { message: Uint8Array; guessed: string | null } {
  const whole = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const end = endOfHeaders(whole);
  const written = whole.toString('latin1', 0, end);
  if (!/[\x80-\xff]|=\?/.test(written)) return { message: raw, guessed: null };
  const [, charset = ''] = contentType.exec(written) ?? [];
  let guessed: string | null = null;
  const read = (bytes: Uint8Array, label: string) => {
    const each = mailText(bytes, label);
    guessed ??= each.guessed;
    return each.text;
  };
  const own = /^utf-?16/i.test(charset) ? null : encodingOf(charset);
  const lines = Array.from(linesOf(whole.subarray(0, end)), ([start, behind]) => {
    const line = whole.subarray(start, behind);
    const text = own === null || valid(line, 'utf-8') !== null ? null : valid(line, own);
    return text === null ? line : Buffer.from(text);
  });
  // The other lines together: a few letters do not show in which charset they are.
  const text = read(Buffer.concat(lines), 'utf-8').replace(
    encodedWords,
    (words: string, label: string, encoding: string) => {
      if ((encodingOf(label) ?? 'utf-8') !== 'utf-8') return words;
      const pieces = bytesOfWords(words, encoding);
      if (pieces.every((bytes) => valid(bytes, 'utf-8') !== null))
        return words.replaceAll(`=?${label}`, '=?utf-8');
      const decoded = read(Buffer.concat(pieces), label);
      return `=?utf-8?B?${Buffer.from(decoded).toString('base64')}?=`;
    },
  );
  return { message: Buffer.concat([Buffer.from(text), whole.subarray(end)]), guessed };
}

/** Before the first empty line. */
function endOfHeaders(message: Buffer): number {
  for (let at = message.indexOf(0x0a); at >= 0; at = message.indexOf(0x0a, at + 1)) {
    const next = message[at + 1] === 0x0d ? at + 2 : at + 1;
    if (message[next] === 0x0a) return at;
  }
  return message.length;
}

function bytesOfWords(words: string, encoding: string): Buffer[] {
  const isBase64 = encoding.toUpperCase() === 'B';
  return [...words.matchAll(/=\?[^?]*\?[QB]\?([^?]*)\?=/gi)].map(([, text = '']) =>
    isBase64 ? Buffer.from(text, 'base64') : bytesOfQuoted(text.replaceAll('_', ' ')),
  );
}

const bytesOfQuoted = (text: string) =>
  Buffer.from(
    text.replace(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

/** What the mail parser has of a part. */
interface Part {
  content: ArrayBuffer | null;
  contentType: { parsed: { value: string; params: Record<string, string> }; multipart: string | false };
  getTextContent(): string;
  processHeaders(): void;
}
interface Parser {
  prototype: { parse(raw: never): Promise<unknown> };
  new (): object;
}

/** `<meta charset=...>`, or `content="text/html; charset=..."`. */
const metaCharset = /<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w.:-]+)/i;
const pageHead = 4_096;

/**
 * Makes the parser read all mails so, and mails in them, which get their own parsers, until the function that it
 * returns is called. `onGuess` gets each charset that was guessed.
 */
export function readMailsByCharset(parser: Parser, onGuess: (charset: string) => void): () => void {
  const mails = parser.prototype as { parse(raw: Uint8Array | ArrayBuffer | string): Promise<unknown> };
  const { root } = new parser() as { root: object };
  const parts = Object.getPrototypeOf(root) as Part;
  const { parse } = mails;
  const { getTextContent, processHeaders } = parts;
  mails.parse = function (raw) {
    // Decoded already.
    if (typeof raw === 'string') return parse.call(this, raw);
    const { message, guessed } = mailWithHeaders(raw instanceof Uint8Array ? raw : new Uint8Array(raw));
    if (guessed !== null) onGuess(guessed);
    return parse.call(this, message);
  };
  // RFC 2045, 5.2: without a type, as in `Content-Type: text`, or a boundary for its parts, is plain text.
  parts.processHeaders = function () {
    processHeaders.call(this);
    const { parsed, multipart } = this.contentType;
    const isWhole = /^[^\s/]+\/[^\s/]+$/.test(parsed.value) && (!multipart || parsed.params.boundary);
    if (!isWhole)
      Object.assign(this.contentType, { multipart: false, parsed: { ...parsed, value: 'text/plain' } });
  };
  parts.getTextContent = function () {
    const { value, params } = this.contentType.parsed;
    const bytes = new Uint8Array(this.content ?? []);
    const page = value === 'text/html' ? Buffer.from(bytes.subarray(0, pageHead)).toString('latin1') : '';
    const charset = params.charset?.trim() || (metaCharset.exec(page)?.[1] ?? '');
    const { text, guessed } = mailText(bytes, charset);
    if (guessed !== null) onGuess(guessed);
    this.content = new TextEncoder().encode(text).buffer as ArrayBuffer;
    params.charset = 'utf-8';
    return getTextContent.call(this);
  };
  return () => {
    mails.parse = parse;
    Object.assign(parts, { getTextContent, processHeaders });
  };
}
