import { takesOneColumnEach } from './width.js';

/** Breaks a text into lines of `room` columns, all but the first indented. */
export type Wrap = (text: string, room: number, indent: number) => string;

/** For a pipe, which has no width. */
export const unbroken: Wrap = (text) => text;

/** With less room, the terminal itself wraps. */
const minRoom = 20;

/** A command to copy within a text: up to the end of the text, a mark that ends a clause, or a bracket. */
const command =
  /(?:\b[A-Z_]+=(?:[^\s'"]|'[^']*'|"[^"]*")+ )*\burtuu(?: (?:[^\s'";()]|'[^']*')*(?:[^\s'";(),.]|'[^']*'))+/g;
/** Characters of a text in which commands are kept whole; what prints one is shorter. */
const mostWithCommands = 2_000;
/** Where a line may be broken: not between a number and its unit. */
export const betweenWords = /(?<!\d) | (?!\p{L})/u;
const beforeUnit = /(?<=\d) (?=\p{L})/gu;
/** Replaces a space at which no line may be broken. */
const joint = '\ue000';

/**
 * For a terminal: breaks only between words, so that an id or a path can be copied, and never within a command, whose
 * first half would do something else.
 */
export async function wrapper(): Promise<Wrap> {
  const { wrapAnsi } = await import('fast-wrap-ansi');
  return (text, room, indent) => {
    const most = takesOneColumnEach(text) ? text.length : 2 * text.length;
    if (most <= room || room < minRoom) return text;
    const kept =
      text.length > mostWithCommands ? text : text.replace(command, (each) => each.replaceAll(' ', joint));
    return wrapAnsi(kept.replace(beforeUnit, joint), room)
      .replaceAll(joint, ' ')
      .replaceAll('\n', `\n${' '.repeat(indent)}`);
  };
}

/** Breaks a text into lines of `room` columns, only between words: ids, paths and commands can be copied. */
export async function lineWrapper(): Promise<(text: string, room: number) => string[]> {
  const { wrapAnsi } = await import('fast-wrap-ansi');
  return (text, room) => wrapAnsi(text.replace(beforeUnit, joint), room).replaceAll(joint, ' ').split('\n');
}
