import type { Command } from 'commander';
import type { CommandBody } from '../../command.js';
import { candidates } from '../../completion/candidates.js';

/** What the completion scripts ask; the last word is the one to complete. */
export const complete: CommandBody = (command, context) => {
  command.argument('[word...]').option('--next', 'the word to complete is a new one');
  command.action(async (words: string[], { next }: { next?: boolean }, { parent }: Command) => {
    if (parent === null) return;
    const found = await candidates(parent, context, next ? [...words, ''] : words);
    await context.io.printer.text(found.map((each) => `${each}\n`).join(''));
  });
};
