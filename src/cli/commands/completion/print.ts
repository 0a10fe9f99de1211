import type { CommandBody } from '../../command.js';
import { type Shell, scripts, shells } from '../../completion/scripts.js';
import { addHelp } from '../../help/command-help.js';
import { readChoice } from '../../options.js';

export const completion: CommandBody<'io'> = (command, { io }) => {
  command
    .description('Print a script that completes commands, options, ids, profiles and jobs in a shell.')
    .argument('<shell>', shells.join(', '), readChoice(...shells));
  addHelp(command, {
    effects: ['reads'],
    examples: [
      ['eval "$(urtuu completion bash)"', 'in ~/.bashrc; the same with zsh in ~/.zshrc'],
      ['urtuu completion fish > ~/.config/fish/completions/urtuu.fish', 'for fish'],
    ],
    exits: [],
  });
  command.action((shell: Shell) => io.printer.text(scripts[shell]));
};
