import pkg from '../../../package.json' with { type: 'json' };
import { readRecord } from '../../contract/index.js';

/** A program that uses the client, for the User-Agent header; printable ASCII. */
export interface AppInfo {
  /** `pickup-notices`. */
  name: string;
  /** `1.4.0`. */
  version?: string | undefined;
  /** `https://shop.example.mn`. */
  url?: string | undefined;
}

/**
 * `urtuu/1.0.0 pickup-notices/1.4.0 (https://shop.example.mn)`.
 * @internal
 */
export function userAgentOf(appInfo: unknown): string {
  const own = `urtuu/${pkg.version}`;
  if (appInfo === undefined) return own;
  const { name, version, url } = readRecord(appInfo, ['name', 'version', 'url']);
  const product = [readPart('name', name)];
  if (version !== undefined) product.push(readPart('version', version));
  const comment = url === undefined ? '' : ` (${readPart('url', url)})`;
  return `${own} ${product.join('/')}${comment}`;
}

/** Headers allow no line breaks, and fetch allows no character above U+00FF. */
function readPart(field: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`appInfo.${field} must be a string`);
  if (!/^[\x20-\x7e]{1,200}$/.test(value) || value.trim() === '') {
    throw new RangeError(`appInfo.${field} must be 1 to 200 printable ASCII characters`);
  }
  return value.trim();
}
