export type Style = 'bold' | 'red' | 'green' | 'yellow';
export type Paint = (style: Style, text: string) => string;

/** Decided by --no-color, then NO_COLOR, then FORCE_COLOR, then the terminal. */
export function wantsColour(
  stream: { isTerminal: boolean },
  env: Readonly<Record<string, string | undefined>>,
  option: boolean,
): boolean {
  if (!option || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTerminal && env.TERM !== 'dumb';
}

export const plain: Paint = (_, text) => text;

/** Uses the sixteen basic colours. Loads chalk only when enabled. */
export async function painter(enabled: boolean): Promise<Paint> {
  if (!enabled) return plain;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return (style, text) => chalk[style](text);
}
