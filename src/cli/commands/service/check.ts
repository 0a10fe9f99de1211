import { resolve } from 'node:path';
import type { CarrierCheck } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { field, type View } from '../../output/view.js';

const view: View<CarrierCheck> = {
  columns: [field('carrier'), field('address'), field('status', { kind: 'status' }), field('problem')],
  record: (check) => check,
  empty: 'No carrier to check: nothing leaves this machine.',
};

export const serviceCheck: CommandBody<'io' | 'network' | 'config'> = (command, { io, network, config }) => {
  command
    .description('Connect and log in to every carrier of a configuration. Sends nothing.')
    .requiredOption('--config <file>', 'the configuration, as for urtuu serve');
  addHelp(command, {
    view,
    examples: [
      ['urtuu service check --config service.json', 'check before a start'],
      ['urtuu service check --config service.json --json', 'in a script'],
    ],
    ok: 'every carrier took the login',
    exits: [5],
    json: '[{"carrier": "Mobicom", "address": "smpp+tls://smsc.example.mn:3550", "status": "ok", "problem": null}]',
  });
  command.action(async ({ config: file }: { config: string }) => {
    const source = { file: resolve(config.cwd, file), environment: config.env };
    let failed = 0;
    const checks = await network.checkCarriers(source);
    const counted = (async function* () {
      for await (const check of checks) {
        if (check.status === 'failed') failed += 1;
        yield check;
      }
    })();
    await io.printAll(view, counted);
    if (failed > 0) {
      throw new CliError(
        'carrier_failed',
        exits.later,
        `${failed} ${failed === 1 ? 'carrier' : 'carriers'} failed`,
      );
    }
  });
};
