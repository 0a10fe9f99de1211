import { commonMailHeader, mailHeader } from '../../contract/index.js';

/** Of a line: enough for the name of a header. */
const longestName = 1_000;
const emptyLine = /^\r?\n$/;
const folded = /^[ \t]+[^\s]/;

/**
 * Puts the missing empty line before the text: after the headers there is a line of blanks, or none. A line without a
 * header is among them if one that the mail lacks is below it.
 */
export function withHeaderEnd(raw: Uint8Array): Uint8Array {
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const seen = new Set<string>();
  let text = -1;
  for (let start = 0; start < mail.length; ) {
    const end = mail.indexOf(0x0a, start) + 1 || mail.length;
    const line = mail.toString('latin1', start, Math.min(end, start + longestName));
    if (emptyLine.test(line)) break;
    const name = line.slice(0, line.indexOf(':')).trim().toLowerCase();
    if (text < 0 && start > 0 && !mailHeader.test(line) && !folded.test(line)) text = start;
    else if (commonMailHeader.test(line) && !seen.has(name)) text = -1;
    if (text < 0) seen.add(name);
    start = end;
  }
  return text < 0 ? raw : Buffer.concat([mail.subarray(0, text), Buffer.from('\r\n'), mail.subarray(text)]);
}
