import { createPrivateKey } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

const known = new Map<string, { changedAt: number; privateKey: string }>();

/** The private key in a file, read again after it changes. Rejects for anything but an RSA key. */
export async function readSigningKey(path: string): Promise<string> {
  const { mtimeMs: changedAt } = await stat(path);
  const before = known.get(path);
  if (before?.changedAt === changedAt) return before.privateKey;
  const privateKey = await readFile(path, 'utf8');
  if (createPrivateKey(privateKey).asymmetricKeyType !== 'rsa') throw new Error(`${path} holds no RSA key`);
  known.set(path, { changedAt, privateKey });
  return privateKey;
}
