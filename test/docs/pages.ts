import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/binary.js';

/** The pages that people read, by their path in the package. */
export const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

export interface Block {
  page: string;
  /** Of its first line of code; the first of the page is 1. */
  line: number;
  language: string;
  code: string;
}

/** The code blocks of a page, in order; an indented line is one of the language `indented`. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, line] of textOf(page).split('\n').entries()) {
    const fence = /^```(\w*)$/.exec(line);
    if (fence !== null) {
      open = open === undefined ? { page, line: index + 2, language: fence[1] ?? '', code: '' } : undefined;
      if (open !== undefined) blocks.push(open);
    } else if (open !== undefined) {
      open.code += `${line}\n`;
    } else if (/^ {4}\S/.test(line)) {
      blocks.push({ page, line: index + 1, language: 'indented', code: `${line.slice(4)}\n` });
    }
  }
  return blocks;
}

export interface Exchange {
  command: string;
  /** Standard output and error, as a terminal mixes them. */
  printed: string;
}

/** The commands of a `console` block, each with the lines below it. */
export function exchangesOf({ code }: Block): Exchange[] {
  return code
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { command: part.slice(0, end), printed: part.slice(end + 1) };
    });
}
