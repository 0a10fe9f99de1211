import { createHash } from 'node:crypto';
import { newApiKey } from '../../contract/index.js';
import { type Random, randomInteger } from '../random.js';

/** Characters of a key that lists show: 36 bits of its 202. */
export const keyPrefixLength = 12;

export const newSecret = (random: Random): string => newApiKey((limit) => randomInteger(random, limit));

export function hashSecret(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest();
}
