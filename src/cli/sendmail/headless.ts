/** A header's name and colon, by RFC 5322. */
const header = /^[!-9;-~]+[ \t]*:/;
/** A message has at least one of these: `Warning: disk full` is a text. */
const common =
  /^(?:from|to|cc|bcc|subject|date|sender|reply-to|message-id|in-reply-to|references|return-path|received|mime-version|auto-submitted|precedence|priority|importance|(?:content|resent|list|x)-[!-9;-~]+)[ \t]*:/i;
/** The line before the headers of a message in a mailbox. */
const mailboxLine = /^>?From /;
const maxHeaderLine = 1_000;

/**
 * Adds the missing empty line before the body, or before a text without headers, as every sendmail does: `echo "disk
 * full" | sendmail root`.
 */
export function withBody(raw: Uint8Array): Buffer {
  const message = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const bodyAt = (start: number) =>
    Buffer.concat([message.subarray(0, start), Buffer.from('\n'), message.subarray(start)]);
  let isMessage = false;
  for (let start = 0; start < message.length; ) {
    const found = message.indexOf('\n', start);
    const end = found < 0 ? message.length : found + 1;
    const line = message.toString('latin1', start, Math.min(end, start + maxHeaderLine));
    if (/^\r?\n$/.test(line)) return isMessage || start === 0 ? message : bodyAt(0);
    const belongs = start === 0 ? mailboxLine.test(line) : /^[ \t]/.test(line);
    if (!belongs && !header.test(line)) return bodyAt(isMessage ? start : 0);
    isMessage ||= common.test(line);
    start = end;
  }
  return isMessage ? message : bodyAt(0);
}
