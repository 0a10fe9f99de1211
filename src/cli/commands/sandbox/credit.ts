import type { Balance } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { readCount } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { noteStore, type StoreOptions } from '../service/store.js';
import { addSandboxOptions, changeableStore } from './data.js';

const view: View<Balance> = { columns: [field('balance', { kind: 'number' })], record: (balance) => balance };

interface Options extends StoreOptions {
  set?: number;
}

export const sandboxCredit: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Add credits to the embedded service, or set its balance.')
    .argument('[credits]', 'credits to add', readCount)
    .option('--set <credits>', 'set the balance', readCount);
  addSandboxOptions(command);
  addHelp(command, {
    view,
    effects: ['changes'],
    examples: [
      ['urtuu sandbox credit 5000', 'add 5,000 credits'],
      ['urtuu sandbox credit --set 0', 'test without credits'],
    ],
    refused: 'the data was served with real carriers',
    exits: [11, 12],
    json: '{"balance": 15000}',
  });
  command.action(async (credits: number | undefined, { set, ...options }: Options) => {
    if ((credits === undefined) === (set === undefined))
      throw usageError('give either credits or --set', 'Example: `urtuu sandbox credit 5000`');
    const store = await changeableStore(context, options, { hint: 'Use: `urtuu service credit --help`' });
    const { administration } = store;
    const change = credits ?? (set ?? 0) - (await administration.credit(0));
    const { io } = context;
    await io.print(view, { balance: await administration.credit(change) });
    noteStore(io, store);
  });
};
