import { resolve } from 'node:path';
import type { CommandBody } from '../../command.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { confirmed } from '../../input/required.js';
import { field, type View } from '../../output/view.js';
import { addStoreOptions, hasData, holdWarning, ownedPlace, type StoreOptions } from './store.js';

interface Row {
  data: string;
  /** The folder with the previous files. */
  replaced: string | null;
}

const view: View<Row> = {
  columns: [field('data'), field('replaced')],
  record: ({ data, replaced }) => ({ data, replaced }),
};

export const serviceRestore: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Restore a backup. The service is held afterwards, until you release it.')
    .argument('<folder>', 'the folder of the backup');
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['changes'],
    notes: [
      'Stop the service first. The previous files are kept in the data folder, in a new',
      'folder whose path is printed. Restore a database with pg_restore.',
    ],
    examples: [
      ['urtuu service restore /backup/urtuu-2026-11-21', 'after a prompt'],
      ['urtuu service restore /backup/urtuu-2026-11-21 --data /srv/urtuu --yes', 'in a script'],
    ],
    refused: 'a process has the data open',
    exits: [11, 12],
    json: '{"data": "/srv/urtuu", "replaced": "/srv/urtuu/replaced-20261121080000000"}',
  });
  command.action(async (given: string, options: StoreOptions) => {
    const { io, network, config } = context;
    const place = ownedPlace(config, options);
    if ('database' in place) {
      throw usageError(
        'a PostgreSQL database is restored by its own tools',
        'Run: pg_restore --dbname <url> urtuu.dump, into an empty database. Start with the URTUU_SECRET_FILE of the dump; the service is then held until it is released: `urtuu service release`',
      );
    }
    const { folder } = place;
    const backup = resolve(config.cwd, given);
    if (!hasData(backup))
      throw new CliError('not_found', exits.missing, `no backup in ${backup}`, { hint: 'Nothing was done.' });
    if (hasData(folder)) {
      await network.files((service) => service.checkFree(folder));
      await confirmed(context, `Replace the data in ${folder} with ${backup}?`);
    }
    const replaced = await network.files((service) => service.restore(backup, folder));
    await io.print(view, { data: folder, replaced });
    io.warn(holdWarning('restored'));
    io.warn('API keys revoked after the backup work again, at once for reads. See: `urtuu keys list`');
  });
};
