import { isUtf8 } from 'node:buffer';

/** The encodings named in errors and help; `--encoding` accepts any label of the WHATWG list. */
export const encodingChoices = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1251', 'koi8-r', 'ibm866'] as const;

/** The input is not in its encoding, after the bytes decoded so far. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError';
  /** One line: how to fix it. */
  readonly hint: string;
  constructor(what: string, hint: string) {
    super(what);
    this.hint = hint;
  }
}

/** The WHATWG name of a label (`cp1251` is `windows-1251`); null for an unknown one. */
export function encodingNamed(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

const marks = [
  { encoding: 'utf-8', bytes: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: 'utf-16le', bytes: Buffer.from([0xff, 0xfe]) },
  { encoding: 'utf-16be', bytes: Buffer.from([0xfe, 0xff]) },
];
const sampleBytes = 4_096;
const encodingHint = `Name the encoding with --encoding (${encodingChoices.join(', ')}), or save the file as UTF-8.`;

/**
 * Decodes an input to UTF-8 blocks that end between characters, without its byte order mark; if there is one, calls
 * `onMark`. The encoding is `given`, else from the mark, else UTF-16 if there are NULs, else UTF-8; it is never
 * guessed. Throws EncodingError.
 */
export async function* decodeInput(
  source: AsyncIterable<Uint8Array>,
  given: string | undefined,
  onMark: () => void,
): AsyncGenerator<Buffer, void> {
  const blocks = source[Symbol.asyncIterator]();
  try {
    const head = await readHead(blocks);
    const mark = marks.find(({ bytes }) => head.subarray(0, bytes.length).equals(bytes));
    if (given !== undefined && mark !== undefined && mark.encoding !== given) {
      throw notAsGiven(given, `begins with a ${mark.encoding} byte order mark`);
    }
    if (mark !== undefined) onMark();
    const encoding = given ?? mark?.encoding ?? utf16Encoding(head) ?? 'utf-8';
    const rest = chain(withoutMarks(head, mark?.bytes), blocks);
    yield* encoding === 'utf-8' ? checkedUtf8(rest) : transcoded(rest, encoding);
  } finally {
    await blocks.return?.();
  }
}

/** Programs that add a mark do so also where there is one. */
function withoutMarks(head: Buffer, mark: Buffer | undefined): Buffer {
  let at = 0;
  if (mark !== undefined) while (head.subarray(at, at + mark.length).equals(mark)) at += mark.length;
  return head.subarray(at);
}

async function readHead(blocks: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  while (length < sampleBytes) {
    const next = await blocks.next();
    if (next.done === true) break;
    parts.push(next.value);
    length += next.value.length;
  }
  return Buffer.concat(parts);
}

async function* chain(head: Buffer, blocks: AsyncIterator<Uint8Array>): AsyncGenerator<Buffer, void> {
  if (head.length > 0) yield head;
  for (let next = await blocks.next(); next.done !== true; next = await blocks.next()) {
    const { buffer, byteOffset, length } = next.value;
    if (length > 0) yield Buffer.from(buffer, byteOffset, length);
  }
}

/**
 * UTF-16 without a mark: each ASCII character has a NUL, always on the same side. In another text with stray NULs, more
 * pairs of bytes are two ASCII characters.
 */
export function utf16Encoding(head: Buffer): 'utf-16le' | 'utf-16be' | null {
  const sample = head.subarray(0, sampleBytes);
  if (!sample.includes(0)) return null;
  let [even, odd, pairs] = [0, 0, 0];
  for (let at = 0; at + 1 < sample.length; at += 2) {
    const [first = 0, second = 0] = [sample[at], sample[at + 1]];
    if (first === 0) even += 1;
    if (second === 0) odd += 1;
    if (isAscii(first) && isAscii(second)) pairs += 1;
  }
  if ((even > 0 && odd > 0) || even + odd <= pairs) return null;
  return odd > 0 ? 'utf-16le' : 'utf-16be';
}

const isAscii = (byte: number) => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d);

async function* checkedUtf8(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let carry: Buffer | null = null;
  for await (const block of source) {
    const joined: Buffer = carry === null ? block : Buffer.concat([carry, block]);
    const end = wholeCharacters(joined);
    const whole = joined.subarray(0, end);
    carry = end === joined.length ? null : Buffer.from(joined.subarray(end));
    if (!isUtf8(whole)) {
      const valid = validPrefix(whole);
      if (valid > 0) yield whole.subarray(0, valid);
      throw new EncodingError(`byte 0x${whole[valid]?.toString(16)} is not UTF-8`, encodingHint);
    }
    if (end > 0) yield whole;
  }
  if (carry !== null) throw new EncodingError('the input ends in the middle of a character', encodingHint);
}

/** Where the last whole character ends; an invalid one is found by the check. */
function wholeCharacters(bytes: Buffer): number {
  const last = bytes.length - 1;
  for (let back = 0; back < 3 && back <= last; back += 1) {
    const byte = bytes[last - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return size > back + 1 ? last - back : bytes.length;
    }
  }
  return bytes.length;
}

function validPrefix(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const end = wholeCharacters(bytes.subarray(0, middle));
    if (isUtf8(bytes.subarray(0, end))) good = middle;
    else bad = middle;
  }
  return wholeCharacters(bytes.subarray(0, good));
}

/** Letters of windows-1251 that neither Mongolian nor Russian uses: they indicate another code page. */
const foreignLetter = /[\u0080-\u009fЂЃѓЉЊЌЋЏђљњќћџЎўЈҐЄЇІіґєјЅѕї]/;

async function* transcoded(source: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer, void> {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  let undecided = encoding === 'windows-1251';
  for await (const block of source) {
    if (undecided && block.some((byte) => byte > 0x7f)) {
      undecided = false;
      if (isUtf8(block.subarray(0, wholeCharacters(block)))) {
        throw notAsGiven(encoding, 'is UTF-8');
      }
    }
    yield* checkedText(decoder.decode(block, { stream: true }), encoding);
  }
  yield* checkedText(decoder.decode(), encoding);
}

function* checkedText(text: string, encoding: string): Generator<Buffer, void> {
  const lost = text.indexOf('\ufffd');
  const foreign = encoding === 'windows-1251' ? text.search(foreignLetter) : -1;
  const bad = lost === -1 ? foreign : foreign === -1 ? lost : Math.min(lost, foreign);
  const good = bad === -1 ? text : text.slice(0, bad);
  if (good !== '') yield Buffer.from(good);
  if (bad === -1) return;
  throw bad === lost
    ? new EncodingError(`invalid ${encoding}`, encodingHint)
    : new EncodingError(
        `not ${encoding}: the letter ${JSON.stringify(text[bad])} is neither Mongolian nor Russian`,
        'windows-1251 has no Ө or Ү. Save the file as UTF-8.',
      );
}

const notAsGiven = (given: string, found: string) =>
  new EncodingError(`--encoding is ${given}, but the input ${found}`, 'Leave out --encoding.');
