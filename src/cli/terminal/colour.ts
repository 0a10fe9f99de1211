const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof codes;
export type Paint = (style: Style, text: string) => string;

/** Colour: --no-color, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal that can. */
export function wantsColour(
  stream: { isTerminal: boolean },
  env: Readonly<Record<string, string | undefined>>,
  option: boolean,
): boolean {
  if (!option || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTerminal && env.TERM !== 'dumb';
}

export function painter(enabled: boolean): Paint {
  if (!enabled) return (_, text) => text;
  return (style, text) => `\u001b[${codes[style][0]}m${text}\u001b[${codes[style][1]}m`;
}
