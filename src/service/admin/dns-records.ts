import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { readSigningKey } from '../carriers/smtp/signing-key.js';
import type { DnsRecord } from '../inbox/mail-administration.js';
import { asciiDomain } from '../mailbox.js';
import type { OwnDomain } from '../settings.js';

/**
 * The records for sending mail from a domain: SPF allows the relay, DKIM has the public key, DMARC requires either.
 * Rejects if the key cannot be read.
 */
export async function dnsRecordsOf(
  { domain: written, selector, key_file: file }: OwnDomain,
  relay: string | null,
): Promise<DnsRecord[]> {
  const domain = asciiDomain(written);
  const senders = relay === null || isIP(relay) !== 0 || relay === 'localhost' ? 'mx' : `mx a:${relay}`;
  const spf: DnsRecord = { purpose: 'SPF', type: 'TXT', name: domain, value: `v=spf1 ${senders} ~all` };
  const dmarc: DnsRecord = {
    purpose: 'DMARC',
    type: 'TXT',
    name: `_dmarc.${domain}`,
    value: 'v=DMARC1; p=none',
  };
  if (selector === undefined || file === undefined) return [spf, dmarc];
  const key = createPublicKey(await readSigningKey(file)).export({ type: 'spki', format: 'der' });
  const value = `v=DKIM1; k=rsa; p=${key.toString('base64')}`;
  return [spf, { purpose: 'DKIM', type: 'TXT', name: `${selector}._domainkey.${domain}`, value }, dmarc];
}
