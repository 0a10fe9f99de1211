import { boundOf, patternBounds } from '../../support/pattern-bounds.js';
import { nameOf, type Pattern, patternsOfSources, slowAttack } from '../../support/patterns.js';
import type { Played } from '../row.js';

/** Milliseconds that any text may take. */
const most = 50;

/** Every regular expression of the sources on hostile texts: of `size` characters, or as long as its bound. */
export async function playPatterns(size: number): Promise<Played> {
  const { patterns } = await patternsOfSources();
  return playedOn(
    patterns.filter((pattern) => boundOf(pattern)?.most !== undefined || boundOf(pattern) === undefined),
    size,
  );
}

export function playedOn(patterns: readonly Pattern[], size: number): Played {
  const slow = patterns.flatMap((pattern) => {
    const attack = slowAttack(pattern, boundOf(pattern)?.most ?? size, most);
    return attack === null ? [] : [`${nameOf(pattern)} ${JSON.stringify(attack)}`];
  });
  return {
    measured: `${patterns.length} regular expressions on ${size} characters, ${patternBounds.length} with a bound or a reason`,
    found: `${slow.length} over ${most} ms${slow.length === 0 ? '' : `: ${slow.join('; ')}`}`,
    wrong: slow.length,
  };
}
