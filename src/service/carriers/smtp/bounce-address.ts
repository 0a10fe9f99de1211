import { createHmac } from 'node:crypto';

const macBytes = 10;

/**
 * The envelope sender of a message (VERP): `bounce+<id>.<mac>@<domain>`, so that its bounce names it and nobody else can
 * make one. With a UUID the part before the @ has 64 characters, the most there may be. Relays may change its case.
 */
export function bounceAddress(messageId: string, key: Uint8Array, domain: string): string {
  const mac = createHmac('sha256', key).update(messageId).digest().subarray(0, macBytes);
  return `bounce+${messageId}.${mac.toString('hex')}@${domain}`;
}
