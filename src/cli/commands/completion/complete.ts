import type { Command } from 'commander';
import { type CommandBody, loadBody } from '../../command.js';
import { candidates } from '../../completion/candidates.js';

/** Called by the completion scripts; completes the last word. */
export const complete: CommandBody = (command, context) => {
  command.argument('[word...]').option('--next', 'complete a new word');
  command.action(async (words: string[], { next }: { next?: boolean }, { parent }: Command) => {
    if (parent === null) return;
    const { io, config } = context;
    const load = (each: Command) => loadBody(each, context);
    const found = await candidates({ program: parent, config, load }, next ? [...words, ''] : words);
    await io.printer.text(found.map((each) => `${each}\n`).join(''));
  });
};
