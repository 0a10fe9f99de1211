import PostalMime, { type Email, type PostalMimeOptions } from 'postal-mime';
import { readMailsByCharset } from '../../contract/index.js';

/** Smaller than the parser's defaults, to save memory: nobody writes deeper mails. */
const limits = { maxNestingDepth: 50, maxHeadersSize: 250_000, maxRfc822NestingDepth: 3 };
/** Lines of the mail, attachments included: each takes about a microsecond. */
const maxLines = 1_000_000;
/** Lines of headers, and parts, each of which takes a few hundred bytes; in the mail and in each one that it contains. */
const maxHeaderLines = 20_000;
const maxParts = 1_000;
const blockBytes = 65_536;
/** Bytes that are kept of texts, of contained mails, of reports and of what they are about; the rest is dropped. */
const room = { text: 2_000_000, mail: 8_000_000, report: 1_000_000, original: 250_000 };

/** Rejects for anything that cannot be read as a mail. Attachments are dropped as they are read. */
export async function parseMail(
  raw: Uint8Array,
  options: Pick<PostalMimeOptions, 'forceRfc822Attachments'> = {},
): Promise<Email> {
  if (linesIn(raw) > maxLines) throw new Error(`it has over ${maxLines} lines`);
  return PostalMime.parse(raw, { ...limits, ...options });
}

function linesIn(raw: Uint8Array): number {
  let lines = 0;
  for (let at = raw.indexOf(0x0a); at >= 0; at = raw.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}

// A text whose charset is not the one that is named is read in the likelier one.
readMailsByCharset(PostalMime, () => {});

/** What the parser has of a part. */
interface Part {
  postalMime: Parser;
  headerLines: string[];
  contentTransferEncoding: { encoding: string };
  contentType: { parsed: { value: string }; multipart: string | false };
  contentDecoder: Decoder | null;
  processHeaders(): void;
}

interface Decoder {
  update(line: Uint8Array): void;
  finalize(): Promise<ArrayBuffer>;
}

interface Parser {
  mimeOptions: { maxHeadersSize: number };
  isInlineTextNode(part: Part): boolean;
  isInlineMessageRfc822(part: Part): boolean;
}

/** Whether a parser is ours, or that of a mail in ours: `sendmail` has others, in the process of a sandbox. */
export const isOfInbox = ({ mimeOptions }: Pick<Parser, 'mimeOptions'>): boolean =>
  mimeOptions.maxHeadersSize === limits.maxHeadersSize;

interface Usage {
  parts: number;
  headerLines: number;
  room: typeof room;
}

const usages = new WeakMap<Parser, Usage>();

function usageOf(parser: Parser): Usage {
  const usage = usages.get(parser) ?? { parts: 0, headerLines: 0, room: { ...room } };
  usages.set(parser, usage);
  return usage;
}

/** Null for an attachment. */
function kindOf(part: Part): keyof typeof room | null {
  if (part.postalMime.isInlineTextNode(part)) return 'text';
  if (part.postalMime.isInlineMessageRfc822(part)) return 'mail';
  const type = part.contentType.parsed.value;
  if (isReportType(type) || isFeedbackType(type)) return 'report';
  return isOriginalType(type) ? 'original' : null;
}

/** A report of a delivery (RFC 3464). */
export const isReportType = (type: string): boolean => /^message\/(?:global-)?delivery-status$/.test(type);
/** A report about a mail (RFC 5965). */
export const isFeedbackType = (type: string): boolean => type === 'message/feedback-report';
/** The mail that a report is about, or its headers. */
export const isOriginalType = (type: string): boolean =>
  /^(?:message\/(?:rfc822|global)|(?:text|message)\/(?:rfc822|global)-headers)$/.test(type);

// The parser keeps every line of a part as an object of its own, and every attachment.
const { prototype } = (new PostalMime() as unknown as { root: { constructor: { prototype: Part } } }).root
  .constructor;
const { processHeaders } = prototype;
prototype.processHeaders = function () {
  if (!isOfInbox(this.postalMime)) {
    processHeaders.call(this);
    return;
  }
  const usage = usageOf(this.postalMime);
  usage.parts += 1;
  usage.headerLines += this.headerLines.length;
  if (usage.parts > maxParts) throw new Error(`it has over ${maxParts} parts`);
  if (usage.headerLines > maxHeaderLines) throw new Error(`it has over ${maxHeaderLines} lines of headers`);
  processHeaders.call(this);
  const { contentDecoder: decoder } = this;
  const kind = kindOf(this);
  const isPlain = !/base64|quoted-printable/.test(this.contentTransferEncoding.encoding);
  if (decoder !== null)
    this.contentDecoder = kind === null ? null : bounded(isPlain ? new Lines() : decoder, usage, kind);
};

/** The parser's own decoder of plain lines keeps an object for each of them. */
class Lines implements Decoder {
  readonly #blocks: Uint8Array[] = [];
  #block = new Uint8Array(0);
  #used = 0;

  update(line: Uint8Array): void {
    if (this.#used + line.length + 1 > this.#block.length) {
      this.#blocks.push(this.#block.subarray(0, this.#used));
      this.#block = new Uint8Array(Math.max(blockBytes, line.length + 1));
      this.#used = 0;
    }
    this.#block.set(line, this.#used);
    this.#used += line.length + 1;
    this.#block[this.#used - 1] = 0x0a;
  }

  async finalize(): Promise<ArrayBuffer> {
    const whole = Buffer.concat([...this.#blocks, this.#block.subarray(0, this.#used)]);
    return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length) as ArrayBuffer;
  }
}

/** Drops what is beyond the room of its kind. */
function bounded(decoder: Decoder, usage: Usage, kind: keyof typeof room): Decoder {
  return {
    update(line) {
      const left = usage.room[kind];
      if (left <= 0) return;
      usage.room[kind] = left - line.length - 1;
      decoder.update(line.length < left ? line : line.subarray(0, left));
    },
    finalize: () => decoder.finalize(),
  };
}
