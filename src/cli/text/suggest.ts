/** The candidates nearest to a mistyped word; none if all are too different. Swapped letters count as one mistake. */
export function nearest(word: string, candidates: readonly string[]): string[] {
  const scored = candidates.map((candidate) => ({ candidate, distance: distanceOf(word, candidate) }));
  const best = Math.min(...scored.map(({ distance }) => distance));
  const found = scored.filter(({ distance }) => distance === best && distance < Infinity);
  return [...new Set(found.map(({ candidate }) => candidate))];
}

/** `Did you mean json? ` for the nearest candidates; empty without any. */
export const didYouMean = (word: string, candidates: readonly string[]): string =>
  suggestionOf(nearest(word, candidates));

/** `Did you mean urtuu sms send or urtuu email send? `; empty for none. */
export function suggestionOf(found: readonly string[]): string {
  if (found.length === 0) return '';
  const shown = found.slice(0, mostShown);
  const last = shown.pop();
  return `Did you mean ${shown.length === 0 ? '' : `${shown.join(', ')} or `}${last}? `;
}

const mostShown = 4;

/** Infinity if the words are not alike; a common prefix of three letters or more makes them alike. */
function distanceOf(word: string, candidate: string): number {
  const a = word.toLowerCase();
  const b = candidate.toLowerCase();
  const distance = editDistance(a, b);
  if (distance <= Math.max(1, Math.floor(Math.min(a.length, b.length) / 3))) return distance;
  return a.replace(/^-+/, '').length >= 3 && b.startsWith(a) ? 1.5 : Infinity;
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 4) return Infinity;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
