import { createHmac, timingSafeEqual } from 'node:crypto';

const macBytes = 10;
const local = /^bounce\+([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{20})$/;

/** Envelope senders by VERP: each names its message, and nobody else can make one. */
export interface BounceAddresses {
  /** `bounce+<id>.<mac>@<domain>`; of a UUID the part before the @ has exactly 64 characters. */
  of(messageId: string): string;
  /** The message of an address; null for any other. Relays may change its case. */
  messageOf(address: string): string | null;
}

export function bounceAddresses(key: Uint8Array, domain: string): BounceAddresses {
  const macOf = (id: string) => createHmac('sha256', key).update(id).digest().subarray(0, macBytes);
  return {
    of: (messageId) => `bounce+${messageId}.${macOf(messageId).toString('hex')}@${domain}`,
    messageOf(address) {
      const lower = address.toLowerCase();
      const at = lower.lastIndexOf('@');
      const [, id, mac] = local.exec(lower.slice(0, at)) ?? [];
      if (id === undefined || mac === undefined || lower.slice(at + 1) !== domain) return null;
      return timingSafeEqual(Buffer.from(mac, 'hex'), macOf(id)) ? id : null;
    },
  };
}
