import { resolve } from 'node:path';
import type { Backup } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { field, type View } from '../../output/view.js';
import { addStoreOptions, hasData, noData, ownedPlace, type StoreOptions } from './store.js';

interface Row extends Backup {
  backup: string;
}

const view: View<Row> = {
  columns: [field('backup'), field('messages', { kind: 'number' }), field('deliveries', { kind: 'number' })],
  record: ({ backup, messages, deliveries }) => ({ backup, messages, deliveries }),
};

export const serviceBackup: CommandBody<'io' | 'network' | 'config'> = (command, { io, network, config }) => {
  command
    .description('Back up the data of a service, even while it runs.')
    .argument('<folder>', 'a new folder for the backup');
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['changes'],
    notes: [
      'The backup includes the secret: keep it where nobody else can read it. It is',
      'verified before it gets its name. Back up a database with pg_dump.',
    ],
    examples: [
      ['urtuu service backup /backup/urtuu-2026-11-21', 'back up the service of urtuu serve'],
      ['urtuu service backup before-upgrade --data /srv/urtuu', 'back up another folder'],
    ],
    exits: [12],
    json: '{"backup": "/backup/urtuu-2026-11-21", "messages": 48200, "deliveries": 48195}',
  });
  command.action(async (given: string, options: StoreOptions) => {
    const place = ownedPlace(config, options);
    if ('database' in place) {
      throw usageError(
        'a PostgreSQL database is backed up by its own tools',
        'Run: pg_dump --format=custom --file urtuu.dump <url>, best on a standby. Keep URTUU_SECRET_FILE too: without it the dump is useless.',
      );
    }
    const { folder } = place;
    if (!hasData(folder)) throw noData(folder);
    const backup = resolve(config.cwd, given);
    const made = await network.files((service) => service.backup(folder, backup));
    await io.print(view, { backup, ...made });
  });
};
