import { createPrivateKey } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { exposedSecret } from '../../../contract/index.js';

const known = new Map<string, { changedAt: number; privateKey: string }>();

/**
 * The private key in a file, read again after it changes; `warn` is called then if others can read it. Rejects for
 * anything but an RSA key, and for a file that others can change.
 */
export async function readSigningKey(
  path: string,
  warn: (warning: string) => void = () => {},
): Promise<string> {
  const file = await stat(path);
  const exposed = exposedSecret(path, file, process.getuid?.());
  if (exposed?.isRefused) throw new Error(`${exposed.problem}. ${exposed.hint}`);
  const changedAt = file.mtimeMs;
  const before = known.get(path);
  if (before?.changedAt === changedAt) return before.privateKey;
  const privateKey = await readFile(path, 'utf8');
  if (createPrivateKey(privateKey).asymmetricKeyType !== 'rsa') throw new Error(`${path} holds no RSA key`);
  if (exposed !== null) warn(`${exposed.problem}. ${exposed.hint}`);
  known.set(path, { changedAt, privateKey });
  return privateKey;
}
