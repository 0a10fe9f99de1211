/** A header's name and colon, by RFC 5322. */
const header = /^[!-9;-~]+[ \t]*:/;
/** A message has at least one of these: `Warning: disk full` is a text. */
const common =
  /^(?:from|to|cc|bcc|subject|date|sender|reply-to|message-id|in-reply-to|references|return-path|received|mime-version|auto-submitted|precedence|priority|importance|(?:content|resent|list|x)-[!-9;-~]+)[ \t]*:/i;
/** The line before the headers of a message in a mailbox. */
const mailboxLine = /^>?From /;
const maxHeaderLine = 1_000;
/** A header of recipients, or a line that lost the colon of one. */
const recipients = /^[ \t]*(?:to|cc|bcc)\b/i;
const longestQuoted = 200;

interface Whole {
  message: Buffer;
  /**
   * The first line that may have the recipients of a header, and is not a part of it: a blank or a colon was lost, or
   * an empty line came between. Null if there is none.
   */
  strayRecipients: string | null;
}

/**
 * Adds the missing empty line before the body, or before a text without headers, as every sendmail does: `echo "disk
 * full" | sendmail root`.
 */
export function withBody(raw: Uint8Array): Whole {
  const message = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  let isMessage = false;
  let isAfterRecipients = false;
  let isListOpen = false;
  let strayRecipients: string | null = null;
  for (const { start, line, isOpen } of linesOf(message)) {
    if (/^\r?\n$/.test(line)) {
      if (!isMessage && start > 0) return bodyAt(message, 0, null);
      if (isAfterRecipients) strayRecipients ??= foldedBelow(message, start);
      return { message, strayRecipients };
    }
    const belongs = start === 0 ? mailboxLine.test(line) : /^[ \t]/.test(line);
    if (!belongs && !header.test(line)) {
      if (!isMessage) return bodyAt(message, 0, null);
      return bodyAt(message, start, strayRecipients ?? strayIn(message, start, isAfterRecipients));
    }
    isMessage ||= common.test(line);
    if (!belongs) {
      // `Team: a@ex.mn` below `To: b@ex.mn,`
      if (isListOpen && !common.test(line) && line.includes('@')) strayRecipients ??= quoted(line);
      isAfterRecipients = recipients.test(line);
    }
    isListOpen = isAfterRecipients && isOpen;
  }
  return isMessage ? { message, strayRecipients } : bodyAt(message, 0, null);
}

const bodyAt = (message: Buffer, start: number, strayRecipients: string | null): Whole => ({
  message: Buffer.concat([message.subarray(0, start), Buffer.from('\n'), message.subarray(start)]),
  strayRecipients,
});

interface Line {
  start: number;
  /** At most the characters of a header's name. */
  line: string;
  /** Whether a list goes on behind it. */
  isOpen: boolean;
}

function* linesOf(message: Buffer, from = 0): Generator<Line> {
  for (let start = from; start < message.length; ) {
    const found = message.indexOf('\n', start);
    const end = found < 0 ? message.length : found + 1;
    const line = message.toString('latin1', start, Math.min(end, start + maxHeaderLine));
    const isOpen = /[,:]\s*$/.test(message.toString('latin1', Math.max(start, end - 8), end));
    yield { start, line, isOpen };
    start = end;
  }
}

/** Looks at the lines before the next empty one: `Cc` among them, or `a@ex.mn` below `To: b@ex.mn,`. */
function strayIn(message: Buffer, from: number, isAfterRecipients: boolean): string | null {
  let isStray = isAfterRecipients;
  for (const { start, line } of linesOf(message, from)) {
    if (line.trim() === '') return null;
    if (start > from && !/^[ \t]/.test(line)) isStray = false;
    isStray ||= recipients.test(line);
    if (isStray && line.includes('@')) return quoted(line);
  }
  return null;
}

/** An empty line in the middle of a folded header. */
function foldedBelow(message: Buffer, emptyAt: number): string | null {
  const [, below] = linesOf(message, emptyAt);
  return below !== undefined && /^[ \t]/.test(below.line) && below.line.includes('@')
    ? quoted(below.line)
    : null;
}

const quoted = (line: string) => Buffer.from(line, 'latin1').toString().trim().slice(0, longestQuoted);
