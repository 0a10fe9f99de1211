import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { utf16Encoding } from './decode.js';
import { FileError } from './input-error.js';

export const saveAsSheet = 'Save it as .xlsx or as CSV (UTF-8).';
const unpack = 'Unpack it, and name the list in it.';
const exportList = 'Export the list as CSV (UTF-8).';
const noList = 'Name a CSV file or an Excel workbook (.xlsx).';

/** Other kinds of files, by their first bytes. */
const kinds: readonly [begin: RegExp, what: string, hint: string][] = [
  [/^\x1f\x8b/, 'is a gzip archive', unpack],
  [/^BZh[1-9]1AY&SY/, 'is a bzip2 archive', unpack],
  [/^\xfd7zXZ\0/, 'is an xz archive', unpack],
  [/^\x28\xb5\x2f\xfd/, 'is a Zstandard archive', unpack],
  [/^7z\xbc\xaf\x27\x1c/, 'is a 7-Zip archive', unpack],
  [/^Rar!\x1a/, 'is a RAR archive', unpack],
  [/^%PDF-/, 'is a PDF', 'Export the list as .xlsx or as CSV (UTF-8).'],
  [/^\{\\rtf/, 'is a rich text document', saveAsSheet],
  [
    /^(?:\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP|II\*\0|MM\0\*|....ftyp(?:heic|mif1|avif))/s,
    'is an image',
    noList,
  ],
  [/^SQLite format 3\0/, 'is an SQLite database', exportList],
  [/^\0\x01\0\0Standard (?:Jet|ACE) DB/, 'is an Access database', exportList],
  // The version, the date of the last change, three sizes and two reserved bytes.
  [
    /^[\x02-\x05\x30-\x32\x43\x63\x7b\x83\x8b\x8e\xcb\xe5\xf5\xfb].[\0-\x0c][\0-\x1f].{8}\0\0/s,
    'is a dBASE table (.dbf)',
    'Open it in Excel or LibreOffice, and save it as .xlsx.',
  ],
  [
    /^(?:\xef\xbb\xbf)*\s*(?:-- (?:MySQL|MariaDB|phpMyAdmin)|--\s+-- PostgreSQL|\/\*M?!|PRAGMA foreign_keys|INSERT INTO |CREATE TABLE )/i,
    'is an SQL dump',
    exportList,
  ],
  [
    /^(?:\xef\xbb\xbf)*BEGIN:VCARD/i,
    'is a file of vCards (.vcf)',
    'Import it into Google Contacts or Outlook, and export the contacts as CSV.',
  ],
  [/^(?:\xef\xbb\xbf)*\s*(?:\[\s*)?\{\s*"[^"\r\n]{1,200}"\s*:/, 'is JSON', exportList],
  [
    /^(?:\xef\xbb\xbf)*\s*<(?:!doctype html|html|head|meta|style|table)\b/i,
    'is a web page (HTML)',
    saveAsSheet,
  ],
  [
    /^(?:\xef\xbb\xbf)*\s*<\?xml\b.*urn:schemas-microsoft-com:office:spreadsheet/s,
    'is an XML spreadsheet of 2003',
    saveAsSheet,
  ],
  [/^(?:\xef\xbb\xbf)*\s*<\?xml\b.*<office:document\b/s, 'is an OpenDocument sheet', saveAsSheet],
];

/** The container of older Microsoft files, and of encrypted workbooks. */
const compound = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
const zip = Buffer.from('PK\x03\x04', 'latin1');
const emptyZip = Buffer.from('PK\x05\x06', 'latin1');

/** Distinguishes text from workbooks by the first bytes. Throws FileError for any other kind of file. */
export async function fileKind(
  head: Buffer,
  bytes: AsyncIterable<Uint8Array>,
  source: string,
): Promise<'text' | 'zip'> {
  const [, locked] = /^(?:~\$|\.~lock\.)(.+?)#?$/.exec(basename(source)) ?? [];
  if (locked !== undefined)
    throw new FileError('file', source, 'is a lock file', `Name the list itself: ${locked}.`);
  const begins = (mark: Buffer) => head.subarray(0, mark.length).equals(mark);
  if (begins(zip)) return 'zip';
  if (begins(emptyZip)) throw new FileError('file', source, 'is an empty zip archive', noList);
  if (begins(compound)) throw await compoundError(bytes, source);
  const text = head.toString('latin1');
  const found = kinds.find(([begin]) => begin.test(text));
  if (found !== undefined) throw new FileError('file', source, found[1], found[2]);
  if (isBinary(head)) throw new FileError('file', source, 'is neither text nor a workbook', noList);
  return 'text';
}

const fewControls = 3;
const sampleBytes = 4_096;

function isBinary(begin: Buffer): boolean {
  const head = begin.subarray(0, sampleBytes);
  const isMarked = /^(?:\xff\xfe|\xfe\xff)/.test(head.toString('latin1', 0, 2));
  if (isMarked || utf16Encoding(head) !== null) return false;
  let [controls, nuls] = [0, 0];
  for (let at = 0; at < head.length; at += 1) {
    const byte = head[at] ?? 0;
    if (byte === 0) nuls += 1;
    if (byte < 0x09 || (byte > 0x0d && byte < 0x20)) controls += 1;
  }
  if (controls < fewControls) return false;
  return nuls > head.length * 0.3 || (controls > head.length * 0.04 && !isUtf8(head));
}

/** An OLE2 file lists its contents in its directory, which may be anywhere in the file. */
async function compoundError(bytes: AsyncIterable<Uint8Array>, source: string): Promise<FileError> {
  const [encrypted, word] = [markOf('EncryptedPackage'), markOf('WordDocument')];
  const found = await marksIn(bytes, [encrypted, word]);
  if (found.has(encrypted))
    return new FileError('file', source, 'is encrypted', 'Save it without a password.');
  if (found.has(word)) return new FileError('file', source, 'is a Word document', saveAsSheet);
  return new FileError('file', source, 'is an Excel workbook of 97 to 2003 (.xls)', saveAsSheet);
}

const markOf = (name: string) => Buffer.from(name, 'utf16le');

/** Those marks that are in some bytes; reads no further once all are found. */
export async function marksIn(blocks: AsyncIterable<Uint8Array>, marks: Buffer[]): Promise<Set<Buffer>> {
  const found = new Set<Buffer>();
  const longest = Math.max(...marks.map(({ length }) => length));
  let end = Buffer.alloc(0);
  for await (const block of blocks) {
    const bytes = Buffer.concat([end, block]);
    for (const mark of marks) if (bytes.includes(mark)) found.add(mark);
    if (found.size === marks.length) break;
    end = bytes.subarray(-longest);
  }
  return found;
}
