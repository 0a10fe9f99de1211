import { normalizeAddress } from '../contract/index.js';

/** The sender domain of projects without their own (POST /v1/email, rule 3). */
export const sharedDomain = 'mail.urtuu.example';

export interface Mailbox {
  name: string;
  address: string;
}

/** `Name <no-reply@domain>`, the name quoted where mail headers need it. */
export function formatMailbox({ name, address }: Mailbox): string {
  const quoted = /[()<>[\]:;@\\,."]/.test(name) ? `"${name.replace(/["\\]/g, '\\$&')}"` : name;
  return `${quoted} <${address}>`;
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** As mail and DNS write it: non-ASCII letters in ASCII (IDNA). */
export function asciiDomain(domain: string): string {
  const address = normalizeAddress(`a@${domain}`);
  return address === null ? domain : domainOf(address);
}

/** Reads the output of `formatMailbox`. */
export function parseMailbox(written: string): Mailbox {
  const start = written.lastIndexOf(' <');
  const name = written.slice(0, Math.max(start, 0));
  const isQuoted = name.startsWith('"') && name.endsWith('"') && name.length > 1;
  return {
    name: isQuoted ? name.slice(1, -1).replace(/\\(.)/g, '$1') : name,
    address: written.slice(start + 2).replace(/>$/, ''),
  };
}
