import { takesOneColumnEach } from './width.js';

/** A terminal with less room than this breaks lines by itself. */
const narrowest = 20;

/**
 * A text in lines of at most so many columns, each further one indented by `indent`. It is broken between
 * words only: an id, a command or a path stays in one piece, to be copied.
 */
export async function wrap(text: string, room: number, indent: number): Promise<string> {
  const most = takesOneColumnEach(text) ? text.length : 2 * text.length;
  if (most <= room || room < narrowest) return text;
  const { wrapAnsi } = await import('fast-wrap-ansi');
  return wrapAnsi(text, room).replaceAll('\n', `\n${' '.repeat(indent)}`);
}
