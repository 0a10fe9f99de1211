import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from './random.js';

/** Keeps verification codes secret, hashed in the store, encrypted in texts that wait for dispatch; and names forms. */
export interface Encryption {
  hashCode(verificationId: string, code: string): Uint8Array;
  matches(codeHash: Uint8Array, verificationId: string, code: string): boolean;
  encrypt(text: string): Uint8Array;
  decrypt(encrypted: Uint8Array): string;
  /** Of a form and what stands in it: nobody else can tell, or name, what was sent with it. */
  nameOfForm(content: string): string;
}

export const nonceLength = 12;
const tagLength = 16;

export function deriveKey(secret: Uint8Array, purpose: string): Buffer {
  return createHmac('sha256', secret).update(purpose).digest();
}

/** With a nonce that no other text has under this key. */
export function encryptText(key: Uint8Array, nonce: Uint8Array, text: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength });
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Throws for anything that was not encrypted with the key. */
export function decryptText(key: Uint8Array, encrypted: Uint8Array): string {
  const bytes = Buffer.from(encrypted);
  const nonce = bytes.subarray(0, nonceLength);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength });
  decipher.setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength));
  const body = bytes.subarray(nonceLength + tagLength);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

/** `secret` is the installation's: 32 random bytes that are not in the store. */
export function createEncryption(secret: Uint8Array, random: Random): Encryption {
  const codeKey = deriveKey(secret, 'verification codes');
  const textKey = deriveKey(secret, 'texts that wait for delivery');
  const formKey = deriveKey(secret, 'forms of the dashboard');

  function hashCode(verificationId: string, code: string): Uint8Array {
    return createHmac('sha256', codeKey).update(`${verificationId}:${code}`).digest();
  }

  return {
    hashCode,
    matches: (codeHash, verificationId, code) => timingSafeEqual(codeHash, hashCode(verificationId, code)),
    encrypt: (text) => encryptText(textKey, random.bytes(nonceLength), text),
    decrypt: (encrypted) => decryptText(textKey, encrypted),
    nameOfForm: (content) => createHmac('sha256', formKey).update(content).digest('base64url'),
  };
}
