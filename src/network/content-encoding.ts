import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gunzip: Decode = promisify(zlib.gunzip);
const inflate: Decode = promisify(zlib.inflate);
const inflateRaw: Decode = promisify(zlib.inflateRaw);
const brotli: Decode = promisify(zlib.brotliDecompress);

/** Undoes Content-Encoding: proxies compress answers unasked. Rejects for another encoding and for over `most` bytes. */
export async function decoded(bytes: Buffer, encoding: string, most: number): Promise<Buffer> {
  const limit = { maxOutputLength: most };
  let left = bytes;
  for (const name of encoding.toLowerCase().split(',').reverse()) {
    const decode = left.length === 0 ? null : decoderOf(name.trim(), left);
    if (decode !== null) left = await decode(left, limit);
  }
  return left;
}

function decoderOf(name: string, bytes: Buffer): Decode | null {
  switch (name) {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return gunzip;
    case 'deflate':
      // Some servers leave out the header of zlib.
      return ((bytes[0] ?? 0) & 0x0f) === 8 ? inflate : inflateRaw;
    case 'br':
      return brotli;
    default:
      throw new Error('its answer has an encoding that was not requested');
  }
}
