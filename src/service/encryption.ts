import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from './random.js';

/** Keeps verification codes secret: hashed in the store, encrypted in texts that wait for dispatch. */
export interface Encryption {
  hashCode(verificationId: string, code: string): Uint8Array;
  matches(codeHash: Uint8Array, verificationId: string, code: string): boolean;
  encrypt(text: string): Uint8Array;
  decrypt(encrypted: Uint8Array): string;
}

const nonceLength = 12;
const tagLength = 16;

export function deriveKey(secret: Uint8Array, purpose: string): Buffer {
  return createHmac('sha256', secret).update(purpose).digest();
}

/** `secret` is the installation's: 32 random bytes that are not in the store. */
export function createEncryption(secret: Uint8Array, random: Random): Encryption {
  const codeKey = deriveKey(secret, 'verification codes');
  const textKey = deriveKey(secret, 'texts that wait for delivery');

  function hashCode(verificationId: string, code: string): Uint8Array {
    return createHmac('sha256', codeKey).update(`${verificationId}:${code}`).digest();
  }

  return {
    hashCode,
    matches: (codeHash, verificationId, code) => timingSafeEqual(codeHash, hashCode(verificationId, code)),
    encrypt(text) {
      const nonce = random.bytes(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', textKey, nonce, { authTagLength: tagLength });
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    decrypt(encrypted) {
      const bytes = Buffer.from(encrypted);
      const decipher = createDecipheriv('aes-256-gcm', textKey, bytes.subarray(0, nonceLength), {
        authTagLength: tagLength,
      });
      decipher.setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength));
      const body = bytes.subarray(nonceLength + tagLength);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
  };
}
