import { createHash } from 'node:crypto';

/** Where the JSON of a line begins: after the digits of its checksum and a space. */
export const textStart = 17;

/** A value as a line of JSON after its checksum. */
export function checkedLine(value: unknown): string {
  const text = JSON.stringify(value);
  return `${checksum(text)} ${text}\n`;
}

/** The value of a line without its newline; null if the checksum does not match the text. */
export function readCheckedLine(line: Buffer): unknown {
  const text = line.toString('utf8', textStart);
  const isWhole = line[textStart - 1] === 32 && line.toString('latin1', 0, textStart - 1) === checksum(text);
  return isWhole ? JSON.parse(text) : null;
}

function checksum(text: string): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, textStart - 1);
}
