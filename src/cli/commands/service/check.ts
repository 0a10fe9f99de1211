import { resolve } from 'node:path';
import type { CarrierCheck } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { withoutPassword } from '../../config/database-url.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { field, type View } from '../../output/view.js';
import { warningsOf } from '../serve/warnings.js';
import { addStoreOptions, holdWarning, ownedPlace, ownedStore, type StoreOptions } from './store.js';

interface Check {
  /** `store`, a route or `email`. */
  check: string;
  address: string;
  status: 'ok' | 'new' | 'failed';
  problem: string | null;
}

const view: View<Check> = {
  columns: [field('check'), field('address'), field('status', { kind: 'status' }), field('problem')],
  record: (check) => check,
};

interface Options extends StoreOptions {
  config: string;
}

export const serviceCheck: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Open the store and connect to every carrier of a configuration. Sends nothing.')
    .requiredOption('--config <file>', 'the configuration, as for urtuu serve');
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['reads'],
    notes: [
      'A carrier has 10 s to answer. Status new: urtuu serve will create the store.',
      'The login of a gateway over HTTP is not checked unless its route has a check:',
      'urtuu service try checks it with a message.',
      'Exit 5: a check failed. Exit 13: the configuration is invalid.',
    ],
    examples: [
      ['urtuu service check --config service.json', 'check before a start'],
      ['urtuu service check --config service.json --json', 'in a script'],
    ],
    ok: 'the store is usable and every carrier answered',
    exits: [5],
    json: '[{"check": "store", "address": "/srv/urtuu", "status": "ok", "problem": null}]',
  });
  command.action(async ({ config: file, ...options }: Options) => {
    const { network, config, io } = context;
    const source = { file: resolve(config.cwd, file), environment: config.env };
    const place = ownedPlace(config, options);
    const database = 'database' in place ? place.database : null;
    // What it cannot read is a failed check.
    const warnings = await warningsOf(context, { database, configuration: source }).catch(() => []);
    for (const warning of warnings) io.warn(warning);
    const carriers = await network.carriers((service) => service.checkConfiguration(source));
    const checks = [checkStore(context, place, options), ...carriers.map(checkCarrier)];
    let failed = 0;
    const counted = (async function* () {
      for (const check of checks) {
        if ((await check).status === 'failed') failed += 1;
        yield check;
      }
    })();
    await io.printAll(view, counted);
    const connected = (await Promise.all(carriers)).filter(
      ({ status, isLoginChecked }) => status === 'ok' && !isLoginChecked,
    );
    if (connected.length > 0) {
      const names = connected.map(({ carrier }) => carrier).join(', ');
      io.note(`The login was not checked for ${names}: service try checks it with a message.`);
    }
    if (failed > 0) {
      throw new CliError('check_failed', exits.later, `${failed} of ${checks.length} checks failed`);
    }
  });
};

async function checkCarrier(checking: Promise<CarrierCheck>): Promise<Check> {
  const { carrier, address, status, problem } = await checking;
  return { check: carrier, address, status, problem };
}

/** Throws CliError if the options and variables select no store. */
async function checkStore(
  context: Pick<Context, 'network' | 'config'>,
  place: ReturnType<typeof ownedPlace>,
  options: StoreOptions,
): Promise<Check> {
  const address = 'folder' in place ? place.folder : withoutPassword(place.database.url);
  const found = { check: 'store', address };
  try {
    const { administration } = await ownedStore(context, options);
    const held = await administration.held();
    if (held === null) return { ...found, status: 'ok', problem: null };
    return { ...found, status: 'failed', problem: context.config.withCommands(holdWarning(held.reason)) };
  } catch (error) {
    if (error instanceof CliError && error.exit === exits.missing)
      return { ...found, status: 'new', problem: 'no data yet' };
    const { message, hint } = error as CliError;
    const problem = message.replace(`cannot use ${address}: `, '');
    return { ...found, status: 'failed', problem: hint === undefined ? problem : `${problem}. ${hint}` };
  }
}
