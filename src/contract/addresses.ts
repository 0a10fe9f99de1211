const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const isDomainLabel = (label: string) =>
  /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u.test(label);

/**
 * The normal form of an email address: the local part as written, the domain in lower case. Null when it
 * is no address that mail can be sent to.
 */
export function normalizeAddress(written: string): string | null {
  const at = written.lastIndexOf('@');
  const local = written.slice(0, at);
  const domain = written.slice(at + 1).toLowerCase();
  if (at < 1 || written.length > 254 || local.length > 64 || !localPart.test(local)) return null;
  const labels = domain.split('.');
  return labels.length > 1 && labels.every(isDomainLabel) ? `${local}@${domain}` : null;
}
