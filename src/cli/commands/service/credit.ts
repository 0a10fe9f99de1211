import { randomUUID } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import type { Balance } from '../../../contract/index.js';
import type { ProjectAdministration } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { confirmed } from '../../input/required.js';
import { field, type View } from '../../output/view.js';
import { counted } from '../../text/wording.js';
import { addProjectOption, ownedProject, type ProjectOptions } from './project.js';
import { addStoreOptions, noteStore } from './store.js';

const view: View<Balance> = { columns: [field('balance', { kind: 'number' })], record: (balance) => balance };

interface Options extends ProjectOptions {
  note?: string;
}

export const serviceCredit: CommandBody<'options' | 'io' | 'network' | 'config' | 'clock'> = (
  command,
  context,
) => {
  command
    .description('Add credits to a project. A negative number removes credits, down to 0, after a prompt.')
    .argument('<credits>', 'credits to add', readAmount)
    .option('--note <text>', 'reason, for the ledger');
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['changes'],
    examples: [
      ["urtuu service credit 5000 --note 'Invoice 112'", 'add 5,000 credits'],
      ['urtuu service credit -500 --project Shop --yes', 'remove 500 credits'],
    ],
    ok: 'the balance has changed',
    exits: [6, 8, 12],
    json: '{"balance": 105000}',
  });
  command.action(async (amount: number, { note, ...options }: Options) => {
    const { io, clock } = context;
    const store = await ownedProject(context, options);
    if (amount < 0) await confirmed(context, `Remove ${counted(-amount, 'credit')} from the balance?`);
    const id = randomUUID();
    const balance = await store.project
      .credit(amount, note === undefined ? { id } : { id, note })
      .catch((error) => Promise.reject(inDoubt(error)));
    await io.print(view, { balance });
    if (amount < 0 && balance === 0) {
      // They have been removed: if the ledger cannot be read, only the note is lost.
      const taken = await takenBy(id, store.project, clock.now()).catch(() => null);
      if (taken !== null && taken < -amount)
        io.note(`Removed ${counted(taken, 'credit')}: the balance had no more.`);
    }
    noteStore(io, store);
  });
};

function readAmount(written: string): number {
  if (!/^[+-]?\d{1,12}$/.test(written)) throw new InvalidArgumentError(`'${written}' is not a whole number`);
  return Number(written);
}

/** The ledger has no entries of 0 credits. The clocks of a database and of this machine may differ. */
async function takenBy(id: string, project: ProjectAdministration, now: number): Promise<number> {
  const since = new Date(now - 86_400_000).toISOString();
  for await (const { subject_id, amount } of project.newestLedger({ since })) {
    if (subject_id === id) return -amount;
  }
  return 0;
}

/** If the database does not answer, it is unknown whether the credits were added. */
function inDoubt(error: Error & { code?: string }): Error {
  if (error.code !== 'unavailable') return error;
  return new CliError(
    'in_doubt',
    exits.doubt,
    'the credits may have been added: the database did not answer',
    {
      hint: 'Check the ledger before you run it again: `urtuu service ledger`',
      cause: error,
    },
  );
}
