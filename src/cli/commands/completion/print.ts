import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { type Shell, scripts, shells } from '../../completion/scripts.js';
import { readChoice } from '../../options.js';

export const completion: CommandBody = (command, context) => {
  command
    .description('Print the script that completes commands, options, ids, profiles and jobs in a shell.')
    .argument('<shell>', shells.join(', '), readChoice(...shells));
  describe(command, {
    examples: [
      ['eval "$(urtuu completion bash)"', 'in ~/.bashrc; the same with zsh in ~/.zshrc'],
      ['urtuu completion fish > ~/.config/fish/completions/urtuu.fish', 'for fish'],
    ],
    exits: [],
  });
  command.action((shell: Shell) => context.io.printer.text(scripts[shell]));
};
