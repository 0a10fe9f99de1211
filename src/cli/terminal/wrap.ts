import { takesOneColumnEach } from './width.js';

/** Breaks a text into lines of `room` columns, all but the first indented. */
export type Wrap = (text: string, room: number, indent: number) => string;

/** For a pipe, which takes any width. */
export const unbroken: Wrap = (text) => text;

/** With less room the terminal wraps by itself. */
const minRoom = 20;

/** A command to copy, in a text: up to its end, a mark that ends a clause, or a bracket. */
const command =
  /(?:\b[A-Z_]+=(?:[^\s'"]|'[^']*'|"[^"]*")+ )*\burtuu(?: (?:[^\s'";()]|'[^']*')*(?:[^\s'";(),.]|'[^']*'))+/g;
/** Where a line may be broken: a number and its unit stay together. */
export const betweenWords = /(?<!\d) | (?!\p{L})/u;
const beforeUnit = /(?<=\d) (?=\p{L})/gu;
/** Stands for a space that no line is broken at. */
const joint = '\ue000';

/**
 * For a terminal: breaks between words only, so that an id or a path can be copied, and never in a command, whose first
 * half would do something else.
 */
export async function wrapper(): Promise<Wrap> {
  const { wrapAnsi } = await import('fast-wrap-ansi');
  return (text, room, indent) => {
    const most = takesOneColumnEach(text) ? text.length : 2 * text.length;
    if (most <= room || room < minRoom) return text;
    const whole = text.replace(command, (each) => each.replaceAll(' ', joint)).replace(beforeUnit, joint);
    return wrapAnsi(whole, room)
      .replaceAll(joint, ' ')
      .replaceAll('\n', `\n${' '.repeat(indent)}`);
  };
}

/** Breaks a text into lines of `room` columns, between words only: an id, a path or a command can be copied. */
export async function lineWrapper(): Promise<(text: string, room: number) => string[]> {
  const { wrapAnsi } = await import('fast-wrap-ansi');
  return (text, room) => wrapAnsi(text.replace(beforeUnit, joint), room).replaceAll(joint, ' ').split('\n');
}
