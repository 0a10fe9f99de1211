import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { confirmed } from '../../input/required.js';
import type { DataOptions } from '../sandbox/data.js';
import { addKeyDataOption, keyStore } from './data.js';

export const keysRevoke: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Revoke an API key. The next request with it is refused.')
    .argument('<id>', 'id of the key');
  addKeyDataOption(command);
  addHelp(command, {
    examples: [
      ['urtuu keys revoke 3f0a...7d', 'after a prompt'],
      ['urtuu keys revoke "$id" --yes', 'in a script'],
    ],
    exits: [12],
  });
  command.action(async (id: string, options: DataOptions) => {
    await confirmed(context, `Revoke key ${id}? Its users lose access.`);
    const { administration } = await keyStore(context.network, context.config, options);
    if (!(await administration.revokeKey(id))) throw noSuchKey(id);
    context.io.note(`Revoked key ${id}.`);
  });
};

const noSuchKey = (id: string) =>
  new CliError('not_found', exits.missing, `no active key ${id}`, { hint: 'See: urtuu keys list' });
