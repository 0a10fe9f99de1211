const rest = '[^\\s<>"«»“”]*';
const letters = '\\p{L}\\p{M}\\p{Extended_Pictographic}\\u200c\\u200d_-';
/** Full stops that name servers take for one. */
const dot = '[.\\u3002\\uff0e\\uff61]';
// What looks like a domain is one: a label without digits, in any alphabet, may be a top-level domain.
const domain = `(?:[\\p{N}${letters}]+${dot})+(?:[${letters}]+|xn--[a-z0-9-]+)${dot}?`;
const link = new RegExp(
  [
    `[a-z][a-z0-9+.-]{0,30}://${rest}`,
    `(?<![\\p{L}\\p{M}\\p{N}])www\\.(?=[\\p{N}${letters}])${rest}`,
    `(?<![\\p{N}${letters}])${domain}(?::[0-9]{1,5})?/${rest}`,
  ].join('|'),
  'giu',
);

/**
 * The text as it goes over a route that carries no links: those with a scheme, starting with `www.`, or a
 * domain with a path are taken out (POST /v1/sms, rule 6). Null when nothing but links was in it.
 */
export function withoutLinks(text: string): string | null {
  const cleaned = removeLinks(text);
  return cleaned === text || /[\p{L}\p{N}\p{S}]/u.test(cleaned) ? cleaned : null;
}

function removeLinks(text: string): string {
  const pieces: string[] = [];
  let end = 0;
  for (const match of text.matchAll(link)) {
    pieces.push(text.slice(end, match.index));
    end = match.index + withoutPunctuation(match[0]).length;
  }
  if (end === 0) return text;
  pieces.push(text.slice(end));
  // What stood on both sides of a link may be one together.
  return removeLinks(pieces.reduce(join));
}

/** Punctuation at the end belongs to the sentence, a closing bracket to the link only if it opened one. */
function withoutPunctuation(found: string): string {
  let kept = found;
  for (;;) {
    const last = kept.at(-1) ?? '';
    const opening = { ')': '(', ']': '[', '}': '{' }[last];
    const closes = opening !== undefined && kept.split(opening).length < kept.split(last).length;
    if (!closes && !/[.,;:!?'’…]/u.test(last)) return kept;
    kept = kept.slice(0, -1);
  }
}

/** Joins what stood before and behind a link, without leaving the blanks of both sides. */
function join(before: string, behind: string): string {
  if (/^(?:$|[\n\r]|[.,;:!?…](?:\s|$))/u.test(behind)) return before.replace(/[ \t]+$/, '') + behind;
  if (/(?:^|\s)$/.test(before)) return before + behind.replace(/^[ \t]+/, '');
  return before + behind;
}
