import { createHmac, timingSafeEqual } from 'node:crypto';

const macBytes = 10;
const pattern = /^bounce\+([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{20})@/;

/**
 * The envelope sender of a message (VERP): `bounce+<id>.<mac>@<domain>`. A bounce to it identifies the message, and
 * nobody else can create it. With a UUID the part before the @ has 64 characters, the maximum. Relays may change its
 * case.
 */
export function bounceAddress(messageId: string, key: Uint8Array, domain: string): string {
  return `bounce+${messageId}.${macOf(messageId, key).toString('hex')}@${domain}`;
}

/** The message id in such an address; null for any other address. */
export function messageIdOfBounce(address: string, key: Uint8Array): string | null {
  const [, id = '', mac = ''] = pattern.exec(address.toLowerCase()) ?? [];
  return mac !== '' && timingSafeEqual(Buffer.from(mac, 'hex'), macOf(id, key)) ? id : null;
}

function macOf(messageId: string, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(messageId).digest().subarray(0, macBytes);
}
