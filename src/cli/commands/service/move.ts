import { resolve } from 'node:path';
import type { CommandBody } from '../../command.js';
import { withoutPassword } from '../../config/database-url.js';
import { sandboxDirectory, serviceDirectory } from '../../config/folders.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { confirmed } from '../../input/required.js';
import { readName } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { quoteArgument } from '../../platform/quote.js';
import { databaseError, databaseSchema, databaseUrl } from '../serve/database.js';
import { warningsOf } from '../serve/warnings.js';
import { addStoreOptions, hasData, noData, type StoreOptions } from './store.js';

interface Row {
  data: string;
  database: string;
  /** Null if the move was given up. */
  secret_file: string | null;
  status: 'moved' | 'moved_before' | 'abandoned';
  /** The number of rows moved by this command. */
  rows: number;
  /** SHA-256 of all tables, the same on both sides; null if this command moved nothing. */
  digest: string | null;
}

const view: View<Row> = {
  columns: [
    field('data'),
    field('database'),
    field('secret_file'),
    field('status'),
    field('rows', { kind: 'number' }),
    field('digest'),
  ],
  record: ({ data, database, secret_file, status, rows, digest }) => ({
    data,
    database,
    secret_file,
    status,
    rows,
    digest,
  }),
};

interface Options extends StoreOptions {
  secretFile?: string;
  abandon?: boolean;
}

export const serviceMove: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Move everything of a stopped service from its folder to an empty PostgreSQL database.')
    .option('--secret-file <file>', 'where to write the secret for every instance', readName)
    .option('--abandon', 'give up a move: empty the database, and serve the folder again');
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['changes'],
    notes: [
      'Stop the service first; during the move nothing answers. A move that was',
      'interrupted starts over when you run the same command again. The folder and',
      'the database can never be served at once: at the end the folder is marked as',
      'moved, then the database opens. The folder keeps its files.',
    ],
    examples: [
      [
        'urtuu service move --database postgres://urtuu@db/urtuu --secret-file urtuu.secret',
        'after a prompt',
      ],
      [
        'urtuu service move --data /srv/urtuu --database postgres://urtuu@db/urtuu --abandon --yes',
        'give up a move',
      ],
    ],
    refused: 'a process has the data open',
    exits: [11, 12, 13],
    json: '{"data": "/srv/urtuu", "database": "postgres://urtuu@db/urtuu", "secret_file": "/srv/urtuu.secret", "status": "moved", "rows": 1204531, "digest": "9f86d0...0a08"}',
  });
  command.action(async ({ data, secretFile: given, abandon = false, ...options }: Options) => {
    const { io, network, config } = context;
    const usual = config.sandbox ? sandboxDirectory : serviceDirectory;
    const folder = data === undefined ? usual(config.stateDirectory) : resolve(config.cwd, data);
    const url = databaseUrl(config, options);
    if (url === null) throw usageError('missing: --database', 'Name the database to move to.');
    const schema = databaseSchema(config);
    if (given === undefined && !abandon)
      throw usageError('missing: --secret-file', 'Every instance needs the secret: name a new file for it.');
    if (!hasData(folder))
      throw noData(folder, 'Nothing was moved. Name the data folder of a service with --data.');
    const database = withoutPassword(url);
    for (const warning of await warningsOf(context, { database: { url, warning: null } })) io.warn(warning);
    const secretFile = resolve(config.cwd, given ?? '');
    await confirmed(
      context,
      abandon
        ? `Empty ${database}, and serve ${folder} again?`
        : `Move the data in ${folder} to ${database}?`,
    );
    const progress = io.progress();
    const steps = { copy: 'Copying', verify: 'Verifying' } as const;
    const done = { copy: 0, verify: 0 };
    const work = await network
      .files(async (service) => {
        const places = { directory: folder, url, database, databaseSchema: schema };
        if (abandon) return service.abandonMove(places);
        return service.moveData({
          ...places,
          secretFile,
          onProgress(step, rows, total) {
            done[step] += rows;
            progress.update(steps[step], { done: done[step], total });
          },
        });
      })
      .catch((error) => {
        throw error.code === 'database_failed' ? databaseError(url, error.cause) : error;
      })
      .finally(() => progress.stop());
    if (work === false) {
      throw new CliError('refused', exits.refused, `the data in ${folder} is not being moved`, {
        hint: 'Nothing was done.',
      });
    }
    const common = { data: folder, database };
    if (work === true) {
      await io.print(view, { ...common, secret_file: null, status: 'abandoned', rows: 0, digest: null });
      return;
    }
    const { isNew, rows, digest } = work;
    const status = isNew ? 'moved' : 'moved_before';
    await io.print(view, { ...common, secret_file: secretFile, status, rows, digest });
    io.note(
      `Give every instance URTUU_SECRET_FILE=${quoteArgument(secretFile, config.platform)}, and serve it:`,
      config.commandLine(['serve'], { '--database': database }),
    );
  });
};
