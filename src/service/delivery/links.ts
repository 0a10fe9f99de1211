/** Top-level domains in other alphabets, which cannot be told from words by their letters alone. */
const wideDomains = 'мон|рф|бел|бг|қаз|мкд|срб|укр|ею|ком|орг|онлайн|сайт|рус|дети|москва|католик';
const rest = '[^\\s<>"«»“”]*';
const label = '[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N}-]{0,61}[\\p{L}\\p{M}\\p{N}])?';
const link = new RegExp(
  [
    `[a-z][a-z0-9+.-]{0,30}://${rest}`,
    `(?<![\\p{L}\\p{N}@._-])www\\.(?=[\\p{L}\\p{N}])${rest}`,
    `(?<![\\p{L}\\p{N}@._-])(?:${label}\\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59}|${wideDomains})(?::[0-9]{1,5})?/${rest}`,
  ].join('|'),
  'giu',
);

/**
 * The text as it goes over a route that carries no links: those with a scheme, starting with `www.`, or a
 * domain with a path are taken out (POST /v1/sms, rule 6). Null when nothing but links was in it.
 */
export function withoutLinks(text: string): string | null {
  const pieces: string[] = [];
  let end = 0;
  for (const match of text.matchAll(link)) {
    pieces.push(text.slice(end, match.index));
    end = match.index + withoutPunctuation(match[0]).length;
  }
  if (end === 0) return text;
  pieces.push(text.slice(end));
  const cleaned = pieces.reduce(join);
  return /[\p{L}\p{N}\p{S}]/u.test(cleaned) ? cleaned : null;
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
