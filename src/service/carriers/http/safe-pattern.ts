/**
 * Why a pattern could take for ever on a text of a gateway; null where it cannot: at most one repetition of a length that
 * varies, none of a group, and nothing that looks back.
 */
export function dangerOf(source: string): string | null {
  const plain = source.replace(/\\./g, 'x').replace(/\[(?:[^\]])*\]/g, 'x');
  if (/\\[1-9k]/.test(source)) return 'must not refer back to a group';
  if (/\(\?<?[=!]/.test(plain)) return 'must not look ahead or behind';
  if (/\)(?:[*+?]|\{)/.test(plain)) return 'must not repeat a group';
  const varying = plain.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  if (varying.length > 1) return 'must have at most one repetition: *, + or {1,9}';
  return null;
}
