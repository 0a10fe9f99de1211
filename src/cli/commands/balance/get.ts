import type { Balance } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { readCount } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { counted, grouped } from '../../text/wording.js';

const view: View<Balance> = { columns: [field('balance', { kind: 'number' })], record: (balance) => balance };

export const balance: CommandBody<'io' | 'network'> = (command, { io, network }) => {
  command.option('--min <credits>', 'exit with 7 if the balance is lower', readCount);
  addHelp(command, {
    view,
    effects: ['reads'],
    examples: [
      ['urtuu balance', 'credits left'],
      ['urtuu balance --min 5000 --quiet || echo "credits are low"', 'in a cron job'],
    ],
    exits: [4, 5, 7, 12],
    json: '{"balance": 12340}',
  });
  command.action(async ({ min }: { min?: number }) => {
    const result = await (await network.client()).balance.get();
    await io.print(view, result);
    if (min !== undefined && result.balance < min) throw belowMinimum(result.balance, min);
  });
};

const belowMinimum = (balance: number, min: number) =>
  new CliError(
    'below_minimum',
    exits.money,
    `the balance of ${counted(balance, 'credit')} is below ${grouped(min)}`,
    {
      hint: 'Add credits to the project.',
      details: { balance, min },
    },
  );
