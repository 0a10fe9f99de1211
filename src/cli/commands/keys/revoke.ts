import { idAsWritten } from '../../../contract/index.js';
import type { ApiKey } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { confirmed } from '../../input/required.js';
import { ownedProject, type ProjectOptions } from '../service/project.js';
import { addKeyOptions } from './data.js';

export const keyRevocation =
  (name: string): CommandBody<'options' | 'io' | 'network' | 'config'> =>
  (command, context) => {
    command
      .description('Revoke an API key. The next request with it is refused.')
      .argument('<key>', `its id, its label, or its first characters as in ${name} list`);
    addKeyOptions(command);
    addHelp(command, {
      effects: ['changes'],
      examples: [
        [`${name} revoke web`, 'the key labelled web, after a prompt'],
        [`${name} revoke "$id" --yes`, 'in a script'],
      ],
      exits: [12],
    });
    command.action(async (given: string, options: ProjectOptions) => {
      const { project } = await ownedProject(context, options);
      const { id, prefix, label } = activeKey(await project.listKeys(), given);
      const name = [prefix ?? id, ...(label ? [`(${label})`] : [])].join(' ');
      await confirmed(context, `Revoke key ${name}? Its users lose access.`);
      if (!(await project.revokeKey(id))) throw noSuchKey(given);
      context.io.note(`Revoked key ${name}.`);
    });
  };

export const keysRevoke = keyRevocation('urtuu keys');

const shortest = 'urtuu_'.length + 1;

/** The key with an id, or with a label or a prefix that no other active key has. */
function activeKey(keys: readonly ApiKey[], given: string): ApiKey {
  const found = keys.filter(
    ({ id, prefix, label, revoked_at: revokedAt }) =>
      revokedAt === null &&
      (id === idAsWritten(given) ||
        label === given ||
        (given.length >= shortest && prefix?.startsWith(given))),
  );
  const [key] = found;
  if (key === undefined) throw noSuchKey(given);
  if (found.length === 1) return key;
  throw usageError(
    `${found.length} keys ${found.some(({ label }) => label === given) ? 'have the label' : 'begin with'} ${given}`,
    'Use its id or its first 12 characters. See: `urtuu keys list`',
  );
}

/** Somebody may pass a whole key, so only its beginning is repeated. */
const noSuchKey = (given: string) =>
  new CliError(
    'not_found',
    exits.missing,
    `no active key ${given.startsWith('urtuu_') && given.length > 12 ? `${given.slice(0, 12)}...` : given}`,
    { hint: 'Use its id, its label or its first 12 characters. See: `urtuu keys list`' },
  );
