import { createPrivateKey } from 'node:crypto';
import * as disk from 'node:fs';
import { stat } from 'node:fs/promises';
import { readTrustedFile, UnsafeFileError } from '../../../contract/index.js';

const known = new Map<string, { changedAt: number; privateKey: string }>();

/**
 * The private key in a file, read again after it changes; `warn` is called then if others can use it. Rejects for
 * anything but an RSA key, and for a file that others can change.
 */
export async function readSigningKey(
  path: string,
  warn: (warning: string) => void = () => {},
): Promise<string> {
  // Also of its owner and mode.
  const changedAt = (await stat(path)).ctimeMs;
  const before = known.get(path);
  if (before?.changedAt === changedAt) return before.privateKey;
  const { privateKey, warning } = readKey(path);
  if (createPrivateKey(privateKey).asymmetricKeyType !== 'rsa') throw new Error(`${path} holds no RSA key`);
  if (warning !== null) warn(warning);
  known.set(path, { changedAt, privateKey });
  return privateKey;
}

function readKey(path: string): { privateKey: string; warning: string | null } {
  try {
    const { bytes, warning } = readTrustedFile(path, 'secret', disk, process.getuid?.());
    return { privateKey: Buffer.from(bytes).toString('utf8'), warning };
  } catch (error) {
    throw error instanceof UnsafeFileError ? new Error(`${error.message}. ${error.hint}`) : error;
  }
}
