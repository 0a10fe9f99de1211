import { InvalidArgumentError } from 'commander';
import type { Balance } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { confirmed } from '../../input/required.js';
import { field, type View } from '../../output/view.js';
import { counted } from '../../wording.js';
import { addProjectOption, ownedProject, type ProjectOptions } from './project.js';
import { addStoreOptions, noteStore } from './store.js';

const view: View<Balance> = { columns: [field('balance', { kind: 'number' })], record: (balance) => balance };

interface Options extends ProjectOptions {
  note?: string;
}

export const serviceCredit: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Add credits to a project. A negative number takes them, after a prompt; never below 0.')
    .argument('<credits>', 'credits to add', readAmount)
    .option('--note <text>', 'reason, for the ledger');
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, {
    view,
    examples: [
      ["urtuu service credit 5000 --note 'Invoice 112'", 'add 5,000 credits'],
      ['urtuu service credit -500 --project Shop --yes', 'take 500'],
    ],
    ok: 'the balance has changed',
    exits: [6, 8, 12],
    json: '{"balance": 105000}',
  });
  command.action(async (amount: number, { note, ...options }: Options) => {
    const { io } = context;
    const store = await ownedProject(context, options);
    if (amount < 0) await confirmed(context, `Take ${counted(-amount, 'credit')} from the balance?`);
    const balance = await store.project
      .credit(amount, note === undefined ? {} : { note })
      .catch((error) => Promise.reject(inDoubt(error)));
    await io.print(view, { balance });
    noteStore(io, store);
  });
};

function readAmount(written: string): number {
  if (!/^[+-]?\d{1,12}$/.test(written)) throw new InvalidArgumentError(`'${written}' is not a whole number`);
  return Number(written);
}

/** Where the database does not answer, nobody knows whether the credits were added. */
function inDoubt(error: Error & { code?: string }): Error {
  if (error.code !== 'unavailable') return error;
  return new CliError(
    'in_doubt',
    exits.doubt,
    'the credits may have been added: the database did not answer',
    {
      hint: 'Look for them before you run it again: urtuu service ledger',
      cause: error,
    },
  );
}
