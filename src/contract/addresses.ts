const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const isDomainLabel = (label: string) =>
  /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_-]{0,61}[\p{L}\p{M}\p{N}_])?$/u.test(label);

/** With `_`, as in the names of some hosts, but not in the last label. */
const areDomainLabels = (labels: readonly string[]) =>
  labels.every(isDomainLabel) && labels.at(-1)?.includes('_') === false;

/** A domain whose last label is a number is an IP address, or nothing. */
const endsInNumber = (domain: string) => /\.(?:[0-9]+|0x[0-9a-f]*)$/.test(domain);

/**
 * The normal form of an email address: the local part as written, the domain in ASCII (IDNA) and lower case, so that
 * all spellings of a domain are one recipient. Null if it is not a mailbox address, mixes alphabets, or is at an IP
 * address: nothing is sent to it.
 */
export const normalizeAddress = (written: string): string | null =>
  normalized(written, (domain) => !endsInNumber(domain) && isOneAlphabet(domain));

/** The same for an address that is stored or was received, which may mix alphabets or be at an IP address. */
export const normalizeAnyAddress = (written: string): string | null => normalized(written, () => true);

/** Most addresses of a list are at the domain of the one before. */
let last: { name: string; domain: string | null } = { name: '', domain: null };

function normalized(written: string, isAllowed: (domain: string) => boolean): string | null {
  const at = written.lastIndexOf('@');
  const local = written.slice(0, at);
  if (at < 1 || written.length > 254 || local.length > 64 || !localPart.test(local)) return null;
  const name = written.slice(at + 1);
  if (name !== last.name) last = { name, domain: asciiDomain(name) };
  const { domain } = last;
  if (domain === null || local.length + 1 + domain.length > 254 || !isAllowed(domain)) return null;
  return `${local}@${domain}`;
}

/** What is wrong with such an address, for people. */
export const mixedAlphabets = 'mixes letters of two alphabets, such as Latin and Cyrillic';

/** Whether a part of an address has letters of two alphabets: it is not the one that it looks like. */
export function mixesAlphabets(written: string): boolean {
  const address = normalizeAnyAddress(written);
  return address === null
    ? written.split(/[@.]/).some(isMixed)
    : !isOneAlphabet(address.slice(address.lastIndexOf('@') + 1));
}

/** The IDNA form of a domain; null if it is not a domain. */
function asciiDomain(written: string): string | null {
  const lower = written.toLowerCase();
  const labels = lower.split('.');
  if (labels.length < 2 || !areDomainLabels(labels)) return null;
  if (/^[\x21-\x7e]+$/.test(lower) && !lower.includes('xn--')) return lower;
  const ascii = hostOf(lower);
  // Digits of other scripts can turn into an IP address.
  return ascii === null || /^[0-9.]+$/.test(ascii) || !areDomainLabels(ascii.split('.')) ? null : ascii;
}

function hostOf(domain: string): string | null {
  try {
    return new URL(`http://${domain}`).hostname;
  } catch {
    return null;
  }
}

/**
 * A label is written in one of these alphabets; Latin letters stand beside Chinese, Japanese and Korean ones. The last
 * one is every other alphabet: those have no letters that look like another's. They are made when they are needed:
 * every start of the command would take a third of a millisecond for them.
 */
const alphabets = () => [
  /[\p{sc=Latin}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}\p{sc=Hangul}]/u,
  /\p{sc=Cyrillic}/u,
  /\p{sc=Greek}/u,
  /\p{sc=Armenian}/u,
  /[^\P{L}\p{sc=Common}\p{sc=Latin}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}\p{sc=Hangul}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}]/u,
];

const isMixed = (label: string) => alphabets().filter((alphabet) => alphabet.test(label)).length > 1;

/** The top-level domains com and co in Cyrillic letters, which look the same and do not exist. */
const likeCom = /\.(?:сом|со)$/;

function isOneAlphabet(domain: string): boolean {
  if (!domain.includes('xn--')) return true;
  const labels = domain
    .split('.')
    .map((label) => (label.startsWith('xn--') ? decoded(label.slice(4)) : label));
  return !labels.some(isMixed) && !likeCom.test(labels.join('.'));
}

/** Punycode (RFC 3492) that a URL has accepted. */
function decoded(label: string): string {
  const end = label.lastIndexOf('-');
  const points = Array.from(label.slice(0, Math.max(0, end)), (letter) => letter.codePointAt(0) ?? 0);
  let point = 128;
  let bias = 72;
  let at = 0;
  for (let read = end + 1; read < label.length; ) {
    const before = at;
    for (let weight = 1, k = 36; read < label.length; k += 36) {
      const code = label.charCodeAt(read);
      read += 1;
      const digit = code < 0x3a ? code - 0x30 + 26 : code - 0x61;
      at += digit * weight;
      const threshold = Math.min(26, Math.max(1, k - bias));
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    const count = points.length + 1;
    let delta = Math.floor((at - before) / (before === 0 ? 700 : 2));
    delta += Math.floor(delta / count);
    let steps = 0;
    for (; delta > 455; steps += 36) delta = Math.floor(delta / 35);
    bias = steps + Math.floor((36 * delta) / (delta + 38));
    point += Math.floor(at / count);
    at %= count;
    points.splice(at, 0, point);
    at += 1;
  }
  return String.fromCodePoint(...points);
}
