import { takesOneColumnEach } from './width.js';

/** Breaks a text into lines of at most so many columns, each further one indented by `indent`. */
export type Wrap = (text: string, room: number, indent: number) => string;

/** For a pipe, which takes any width. */
export const unbroken: Wrap = (text) => text;

/** A terminal with less room than this breaks lines by itself. */
const narrowest = 20;

/**
 * For a terminal: breaks between words only, so that an id or a path stays in one piece, to be copied. Loaded
 * only where there is one.
 */
export async function wrapper(): Promise<Wrap> {
  const { wrapAnsi } = await import('fast-wrap-ansi');
  return (text, room, indent) => {
    const most = takesOneColumnEach(text) ? text.length : 2 * text.length;
    if (most <= room || room < narrowest) return text;
    return wrapAnsi(text, room).replaceAll('\n', `\n${' '.repeat(indent)}`);
  };
}
