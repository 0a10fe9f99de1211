import { commonMailHeader as common, mailHeader as header, normalizeAddress } from '../../contract/index.js';
import { readAddressList } from './address-list.js';

/** The line before the headers of a message in a mailbox. */
const mailboxLine = /^>?From /;
const maxHeaderLine = 1_000;
/**
 * A header of recipients, a line that lost the colon of one, or has its name in letters that look the same, or marks
 * around or within it: `>Cc:`, `"To":`, `C.c.:`.
 */
const recipients =
  /^[^\p{L}\p{N}]*(?:(?:[tтτ][^\p{L}\p{N}@<:]?[oоο]|(?:[bвβь][^\p{L}\p{N}@<:]?)?[cс][^\p{L}\p{N}@<:]?[cс])[^\p{L}\p{N}@<:]*:|(?:to|cc|bcc)(?![\w@-])[ \t]*[;=.]?)/iu;
const recipientsAsRead = /^(?:to|cc|bcc)[ \t]*:/i;
const longestQuoted = 200;

interface Whole {
  message: Buffer;
  /**
   * The first line that has the recipients of a header, and is not a part of it: a blank or a colon was lost, or an
   * empty line came between. Null if there is none.
   */
  strayRecipients: string | null;
}

/**
 * Adds the missing empty line before the body, or before a text without headers, as every sendmail does: `echo "disk
 * full" | sendmail root`. Removes a byte order mark, which would make the first header a text.
 */
export function withBody(raw: Uint8Array): Whole {
  const written = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const message = written.subarray(written.toString('utf8', 0, 3) === '\ufeff' ? 3 : 0);
  let isMessage = false;
  let isAfterRecipients = false;
  let isListOpen = false;
  let strayRecipients: string | null = null;
  for (const { start, end, line, isOpen, isInner, newline } of linesOf(message)) {
    if (emptyLine.test(line)) {
      if (start === 0) return { message, strayRecipients: strayIn(message, belowEmpty(message, end), false) };
      if (!isMessage) return bodyAt(message, 0, strayRecipients);
      // Empty lines in the middle of a folded header.
      const next = belowEmpty(message, end);
      if (isListOpen && folded.test(message.toString('latin1', next, next + 1)))
        strayRecipients ??= addressesOf(fieldAt(message, next));
      return { message, strayRecipients };
    }
    const belongs = isInner || (start === 0 ? mailboxLine.test(line) : folded.test(line));
    if (!belongs && !header.test(line)) {
      if (!isMessage) return bodyAt(message, 0, strayIn(message, 0, false));
      return bodyAt(message, start, strayRecipients ?? strayIn(message, start, isAfterRecipients));
    }
    isMessage ||= common.test(line);
    if (!belongs) {
      if (isListOpen && !common.test(line)) strayRecipients ??= entryLikeHeader(fieldAt(message, start));
      isAfterRecipients = recipientsAsRead.test(line);
    }
    if (isInner || !(belongs || isAfterRecipients))
      strayRecipients ??= headerLike(fieldAt(message, start, newline));
    isListOpen = isAfterRecipients && isOpen;
  }
  return isMessage ? { message, strayRecipients } : bodyAt(message, 0, strayRecipients);
}

const bodyAt = (message: Buffer, start: number, strayRecipients: string | null): Whole => ({
  message: Buffer.concat([message.subarray(0, start), Buffer.from('\n'), message.subarray(start)]),
  strayRecipients,
});

interface Line {
  start: number;
  end: number;
  /** At most the characters of a header's name. */
  line: string;
  /** Whether a list goes on behind it. */
  isOpen: boolean;
  /** Whether a lone return is before it: a header of its own to whoever wrote it, and a part of one to others. */
  isInner: boolean;
  /** Behind the whole line. */
  newline: number;
}

function* linesOf(message: Buffer, from = 0, newlineAhead = from): Generator<Line> {
  let newline = newlineAhead;
  for (let start = from; start < message.length; ) {
    const isInner = start < newline;
    if (!isInner) newline = message.indexOf('\n', start) + 1 || message.length;
    const end = endOfPiece(message, start, newline);
    const line = message.toString('latin1', start, Math.min(end, start + maxHeaderLine));
    const isOpen = /[,:]\s*$/.test(message.toString('latin1', Math.max(start, end - 8), end));
    yield { start, end, line, isOpen, isInner, newline };
    start = end;
  }
}

/** Behind the next lone return, else behind the line. */
function endOfPiece(message: Buffer, start: number, newline: number): number {
  for (let at = start + 1; at + 1 < newline; at += 1)
    if (message[at] === 13 && message[at + 1] !== 13 && message[at + 1] !== 10) return at + 1;
  return newline;
}

const emptyLine = /^\r?\n$/;
const folded = /^[ \t]/;

function belowEmpty(message: Buffer, from: number): number {
  let at = from;
  while (message[at] === 10 || (message[at] === 13 && message[at + 1] === 10)) at += 1;
  return at;
}

/** A line with those that are folded below it. */
function fieldAt(message: Buffer, from: number, newline = from): string {
  let whole = from;
  for (const { start, end, line } of linesOf(message, from, newline)) {
    if (start > from && !(folded.test(line) && line.trim() !== '')) break;
    whole = end;
  }
  return message.toString('utf8', from, whole);
}

/** Looks at the lines before the next empty one: `Cc` among them, or `a@ex.mn` below `To: b@ex.mn,`. */
function strayIn(message: Buffer, from: number, isAfterRecipients: boolean): string | null {
  for (const { start, line } of linesOf(message, from)) {
    if (line.trim() === '') return null;
    const text = Buffer.from(line, 'latin1').toString();
    if (!(start === from && isAfterRecipients) && !recipients.test(plain(text))) continue;
    const stray = addressesOf(folded.test(line) ? text : fieldAt(message, start));
    if (stray !== null) return stray;
  }
  return null;
}

/**
 * The text as written if it is `Cc:` with an address, or addresses and nothing else: other texts may have some in them,
 * too.
 */
function addressesOf(written: string): string | null {
  const text = plain(written);
  const [name = ''] = recipients.exec(text) ?? [];
  const { named, unreadable } = readAddressList(text.slice(name.length));
  const isList =
    named.length > 0 && unreadable.length === 0 && named.every((each) => normalizeAddress(each) !== null);
  return isList || (name.endsWith(':') && text.includes('@')) ? written.trim().slice(0, longestQuoted) : null;
}

/** Only with its colon: `To-Do: a@ex.mn` is another header. */
const headerLike = (text: string) =>
  recipients.exec(plain(text))?.[0].endsWith(':') === true ? addressesOf(text) : null;

/** `Team: a@ex.mn;` and `a@ex.mn; "a:b" <b@ex.mn>` below `To: c@ex.mn,`, but not `Errors-To: a@ex.mn`. */
const entryLikeHeader = (text: string) =>
  /^[\w.-]+[ \t]*:/.test(plain(text)) && !/;\s*$/.test(text) ? null : addressesOf(text);

/** In the usual one of the letters that mean the same, and without the invisible ones. */
const plain = (text: string) => text.normalize('NFKC').replace(/\p{Cf}/gu, '');
