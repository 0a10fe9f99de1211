/** Ways in which a pattern may go on from one place, and with a repetition; more take long on a text that almost fits. */
const [mostWays, mostRepeated] = [16, 4];

/**
 * Why a pattern could take for ever on a text of a gateway; null where it cannot: at most one repetition of a length that
 * varies, none of a group, few choices, and nothing that looks around.
 */
export function dangerOf(source: string): string | null {
  const plain = source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  if (/\\[1-9k]/.test(source)) return 'must not refer back to a group';
  if (/\(\?<?[=!]/.test(plain)) return 'must not look ahead or behind';
  if (/\)(?:[*+?]|\{)/.test(plain)) return 'must not repeat a group';
  const varying = plain.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  if (varying.length > 1) return 'must have at most one repetition: *, + or {1,9}';
  // A ? behind a repetition chooses nothing new, nor does one that names the kind of a group.
  const optional = plain.match(/(?<![*+}(])\?/g)?.length ?? 0;
  const alternatives = plain.split(/[()]/).map((piece) => piece.split('|').length);
  const ways = alternatives.reduce((product, count) => product * count, 2 ** optional);
  return ways > (varying.length === 0 ? mostWays : mostRepeated) ? 'has too many alternatives' : null;
}
