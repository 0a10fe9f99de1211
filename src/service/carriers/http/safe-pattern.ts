/** The most alternatives in a pattern: more take long on a text that almost matches. */
const mostWays = 16;
/** The same, in a pattern with a repetition. */
const mostRepeated = 4;
/** Characters that a pattern with alternatives may count, as `.{8}`, if it can match anywhere. */
const mostCounted = 8;

/**
 * Why a pattern could take for ever on a gateway's text; null if it cannot. It may have one repetition of variable
 * length, none of a group, few alternatives, and no lookaround.
 */
export function dangerOf(source: string): string | null {
  const plain = source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  if (/\\[1-9k]/.test(source)) return 'must not refer back to a group';
  if (/\(\?<?[=!]/.test(plain)) return 'must not look ahead or behind';
  if (/\)(?:[*+?]|\{)/.test(plain)) return 'must not repeat a group';
  const varying = plain.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  if (varying.length > 1) return 'must have at most one repetition: *, + or {1,9}';
  // A ? after a repetition adds no alternative, nor does one that marks the kind of a group.
  const optional = plain.match(/(?<![*+}(])\?/g)?.length ?? 0;
  const alternatives = plain.split(/[()]/).map((piece) => piece.split('|').length);
  const ways = alternatives.reduce((product, count) => product * count, 2 ** optional);
  if (ways > (varying.length === 0 ? mostWays : mostRepeated)) return 'has too many alternatives';
  const counts = [...plain.matchAll(/\{(\d+)\}/g)].map(([, count]) => Number(count));
  const counted = counts.reduce((sum, count) => sum + count, 0);
  // Blanks end where the letters and digits of an id begin: `id: *([0-9a-f]{32})`.
  const isOfBlanks = /(?: |\\s)(?:[*+]|\{\d+,)/.test(source);
  const others = source.replace(/(?:\\[dw]|\[[\w-]+\])\{\d+\}/g, '');
  const isOfId = isOfBlanks && !/\{\d+\}/.test(others);
  const isAnchored = source.startsWith('^') && !plain.replace(/\([^()]*\)/g, '').includes('|');
  const isCheap = isAnchored || ((varying.length === 0 || isOfId) && ways <= mostRepeated);
  if (isCheap || counted === 0) return null;
  // The count restarts at every end of the repetition, at every place of the text.
  if (varying.length > 0 && !isOfId)
    return 'must begin with ^, or have no {n} beside a repetition: write \\d\\d for \\d{2}';
  return counted > mostCounted
    ? `must begin with ^, or have {n} for at most ${mostCounted} characters`
    : null;
}
