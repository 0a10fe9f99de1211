const rest = '[^\\s<>"«»“”]*';
const letters = '\\p{L}\\p{M}\\p{Extended_Pictographic}\\u200c\\u200d_-';
/** Characters that name servers accept as a full stop. */
const dot = '[.\\u3002\\uff0e\\uff61]';
// Anything that looks like a domain counts as one: a top-level domain may be any label without digits, in any alphabet.
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
 * The text as sent over a route without links: links with a scheme, starting with `www.`, or with a domain and a path
 * are removed (POST /v1/sms, rule 6). Null if the text was nothing but links.
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
  // The texts before and after a link may form another one.
  return removeLinks(pieces.reduce(join));
}

/** Trailing punctuation belongs to the sentence; a closing bracket belongs to the link only if the link opened it. */
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

/** Joins the texts before and after a link without doubling the blanks. */
function join(before: string, behind: string): string {
  if (/^(?:$|[\n\r]|[.,;:!?…](?:\s|$))/u.test(behind))
    return before.replace(/(?<![ \t])[ \t]+$/, '') + behind;
  if (/(?:^|\s)$/.test(before)) return before + behind.replace(/^[ \t]+/, '');
  return before + behind;
}
