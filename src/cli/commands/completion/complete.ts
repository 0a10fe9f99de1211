import type { Command } from 'commander';
import { type CommandBody, loadBody } from '../../command.js';
import { type Candidate, candidates } from '../../completion/candidates.js';
import { visible } from '../../terminal/sanitise.js';

/**
 * Called by the completion scripts; completes the last word. Prints lines of words and descriptions, separated by a
 * tab.
 */
export const complete: CommandBody = (command, context) => {
  command.argument('[word...]').option('--next', 'complete a new word');
  command.action(async (words: string[], { next }: { next?: boolean }, { parent }: Command) => {
    if (parent === null) return;
    const { io, config } = context;
    const load = (each: Command) => loadBody(each, context);
    const found = await candidates({ program: parent, config, load }, next ? [...words, ''] : words);
    await io.printer.text(found.map(lineOf).join(''));
  });
};

const lineOf = ({ word, description }: Candidate) => `${word}${description && `\t${visible(description)}`}\n`;
