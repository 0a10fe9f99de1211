/** The placeholders of a fraction in a number format: `# ??/??`, `?/8`. */
const places = /(?<![#?0])(?:([#?0]+)[ \\]+)?[#?0]+ *\/ *(\d+|[#?0]+)/g;
const mostDenominators = 9_999;

/** Replaces the placeholders of a fraction in a pattern with the value, as text. */
export function withFraction(pattern: string, value: number): string {
  return pattern.replace(places, (_, whole: string | undefined, below: string) => {
    const isFixed = /[1-9]/.test(below);
    const most = isFixed ? Number(below) : Math.min(10 ** below.length - 1, mostDenominators);
    const size = Math.abs(value);
    const rest = whole === undefined ? size : size % 1;
    const [above, under] = isFixed ? [Math.round(rest * most), most] : nearest(rest, most);
    if (whole === undefined) return `"${above}/${under}"`;
    const units = Math.trunc(size) + (above === under ? 1 : 0);
    if (above % under === 0) return `"${units}"`;
    return units === 0 && !whole.includes('0') ? `"${above}/${under}"` : `"${units} ${above}/${under}"`;
  });
}

function nearest(value: number, mostUnder: number): [above: number, under: number] {
  let best: [number, number] = [Math.round(value), 1];
  let least = Math.abs(value - best[0]);
  for (let under = 2; under <= mostUnder && least > 1e-12; under += 1) {
    const above = Math.round(value * under);
    const error = Math.abs(value - above / under);
    if (error < least - 1e-12) [best, least] = [[above, under], error];
  }
  return best;
}
