import type { Mismatch } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import type { ServiceFiles } from '../../network/open-service.js';
import { field, type View } from '../../output/view.js';
import { counted } from '../../text/wording.js';
import { databaseError } from '../serve/database.js';
import { addStoreOptions, hasData, noData, ownedPlace, type StoreOptions } from './store.js';

const view: View<Mismatch> = {
  columns: [field('check'), field('subject'), field('problem')],
  record: ({ check, subject, problem }) => ({ check, subject, problem }),
  empty: 'Everything adds up.',
};

export const serviceVerify: CommandBody<'io' | 'network' | 'config'> = (command, { io, network, config }) => {
  command.description('Verify the data of a service, even while it runs. Changes nothing.');
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['reads'],
    notes: [
      'It checks the files and their indexes (on PostgreSQL, run pg_amcheck for those),',
      'ledgers against balances, batches against their messages, claims, contents and',
      'answers, and that nothing was delivered twice. A mismatch exits 3.',
    ],
    examples: [
      ['urtuu service verify', 'the service of urtuu serve'],
      ['urtuu service verify --data /srv/urtuu -o ndjson', 'a line for each mismatch'],
    ],
    ok: 'everything adds up',
    exits: [3, 12],
    json: '[{"check": "ledger", "subject": "0b6f...2c", "problem": "the balance is 990, its ledger adds up to 1000"}]',
  });
  command.action(async (options: StoreOptions) => {
    const place = ownedPlace(config, options);
    if ('folder' in place && !hasData(place.folder)) throw noData(place.folder);
    let count = 0;
    const counting = async function* (mismatches: AsyncIterable<Mismatch>) {
      for await (const mismatch of mismatches) {
        count += 1;
        yield mismatch;
      }
    };
    const data =
      'folder' in place
        ? { directory: place.folder }
        : {
            database: place.database.url,
            databaseSchema: place.database.schema,
            secret: place.database.secret,
          };
    const read = async function* ({ verify }: ServiceFiles) {
      try {
        yield* counting(await verify(data));
      } catch (error) {
        throw 'folder' in place ? error : databaseError(place.database.url, error);
      }
    };
    await network.files((service) => io.printAll(view, read(service)));
    if (count > 0) throw new CliError('mismatch', exits.partly, counted(count, 'mismatch'));
  });
};
