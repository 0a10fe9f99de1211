import { gsmCharacters, gsmExtensionCharacters } from '../../../../contract/index.js';

const escapeCode = 0x1b;
const extensionCodes = [0x0a, 0x14, 0x28, 0x29, 0x2f, 0x3c, 0x3d, 0x3e, 0x40, 0x65];

const characters = [...gsmCharacters];
characters.splice(escapeCode, 0, '\x1b');
const extension = new Map(
  [...gsmExtensionCharacters].map((character, index) => [extensionCodes[index] as number, character]),
);

const codes = new Map([...gsmCharacters].map((character) => [character, [characters.indexOf(character)]]));
for (const [code, character] of extension) codes.set(character, [escapeCode, code]);

/** The codes of each character; null if the text has others. */
export function gsmCodes(text: string): number[][] | null {
  const all: number[][] = [];
  for (const character of text) {
    const known = codes.get(character);
    if (known === undefined) return null;
    all.push(known);
  }
  return all;
}

/** Decodes one code a byte. */
export function decodeGsm(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at] as number;
    if (code === escapeCode && at + 1 < bytes.length) {
      at += 1;
      text += extension.get(bytes[at] as number) ?? ' ';
    } else text += characters[code] ?? ' ';
  }
  return text;
}

/** Eight codes in seven bytes, the low bits first. */
export function unpackSeptets(bytes: Uint8Array): Uint8Array {
  const septets = new Uint8Array(Math.floor((bytes.length * 8) / 7));
  for (let index = 0; index < septets.length; index += 1) {
    const bit = index * 7;
    const at = bit >> 3;
    const pair = (bytes[at] as number) | ((bytes[at + 1] ?? 0) << 8);
    septets[index] = (pair >> (bit & 7)) & 0x7f;
  }
  return septets;
}

/** UTF-16, big-endian: SMPP's UCS-2. */
export function encodeUcs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

export function decodeUcs2(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString('utf16le');
}
