const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const isDomainLabel = (label: string) =>
  /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u.test(label);

/**
 * The normal form of an email address: the local part as written, the domain in ASCII (IDNA) and lower case, so that
 * all spellings of a domain are one recipient. Null if it is not a mailbox address.
 */
export function normalizeAddress(written: string): string | null {
  const at = written.lastIndexOf('@');
  const local = written.slice(0, at);
  if (at < 1 || written.length > 254 || local.length > 64 || !localPart.test(local)) return null;
  const domain = asciiDomain(written.slice(at + 1));
  return domain === null || local.length + 1 + domain.length > 254 ? null : `${local}@${domain}`;
}

/** The IDNA form of a domain; null if it is not a domain. */
function asciiDomain(written: string): string | null {
  const lower = written.toLowerCase();
  const labels = lower.split('.');
  if (labels.length < 2 || !labels.every(isDomainLabel)) return null;
  if (/^[\x21-\x7e]+$/.test(lower) && !labels.some((label) => label.startsWith('xn--'))) return lower;
  const ascii = hostOf(lower);
  // Digits of other scripts can turn into an IP address.
  return ascii === null || /^[0-9.]+$/.test(ascii) || !ascii.split('.').every(isDomainLabel) ? null : ascii;
}

function hostOf(domain: string): string | null {
  try {
    return new URL(`http://${domain}`).hostname;
  } catch {
    return null;
  }
}
