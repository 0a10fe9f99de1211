import { createHash } from 'node:crypto';

const newline = 0x0a;

/** A text after a line with the kind of file, its version and the SHA-256 of the text. */
export function checksummedText(kind: string, version: number, text: string): string {
  return `${kind} ${version} ${sha256(text)}\n${text}`;
}

export interface ChecksummedText {
  kind: string;
  version: string;
  /** Null if it does not match its checksum. */
  text: string | null;
}

export function readChecksummedText(bytes: Buffer): ChecksummedText {
  const end = bytes.indexOf(newline);
  const [kind = '', version = '', checksum] = bytes.toString('latin1', 0, Math.max(0, end)).split(' ');
  const rest = bytes.subarray(end + 1);
  return { kind, version, text: sha256(rest) === checksum ? rest.toString() : null };
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
