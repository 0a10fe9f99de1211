import { type SuppressionReason, suppressionReasons } from '../../../../contract/index.js';
import type { CommandBody } from '../../../command.js';
import { CliError, Ended, inputError, usageError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { addHelp } from '../../../help/command-help.js';
import { readChoice } from '../../../options.js';
import { field, type View } from '../../../output/view.js';
import { counted, grouped } from '../../../text/wording.js';
import { maskCells } from '../../bulk/mask-cells.js';
import { addProjectOption, ownedProject, type ProjectOptions } from '../project.js';
import { addStoreOptions, noteStore } from '../store.js';
import { RecipientList } from './recipient-list.js';

interface Added {
  added: number;
  already_there: number;
  invalid: number;
}

const view: View<Added> = {
  columns: (['added', 'already_there', 'invalid'] as const).map((name) =>
    field<Added>(name, { kind: 'number' }),
  ),
  record: (added) => added,
};

interface Options extends ProjectOptions {
  fromFile?: string;
  column?: string;
  skipInvalid?: boolean;
  reason?: SuppressionReason;
}

export const serviceSuppressionsAdd: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Put recipients on the do-not-send list of a project. Repeats change nothing.')
    .argument('[to...]', 'numbers or addresses')
    .option('--from-file <file>', 'read them from a CSV file or workbook, or - for standard input')
    .option('--column <name>', 'column of the recipients (default: the only one, or to)')
    .option('--skip-invalid', 'add the valid ones even if others are invalid')
    .addOption(
      command
        .createOption('--reason <reason>', 'why: opt_out, unknown_recipient or manual (default: manual)')
        .argParser(readChoice(...suppressionReasons)),
    );
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['changes'],
    notes: [
      'Without --reason, a row keeps the reason in its column `reason`, as',
      '`service suppressions list` writes it: the list of one service can be added to',
      'another. Those who opted out still get codes and single emails.',
    ],
    examples: [
      ['urtuu service suppressions add 99112233 bold@example.com', 'two recipients'],
      ['urtuu service suppressions add --from-file left.csv --column phone', 'a column of a list'],
      [
        'urtuu service suppressions list -o csv | urtuu service suppressions add --from-file - --project Shop',
        'the list of one project, added to another',
      ],
    ],
    exits: [3, 5, 8, 12],
    json: '{"added": 2, "already_there": 0, "invalid": 0}',
  });
  command.action(async (words: string[], options: Options) => {
    const { io } = context;
    const { fromFile, column, skipInvalid = false, reason } = options;
    if (words.length === 0 && fromFile === undefined)
      throw usageError('missing: <to>', 'Give recipients as arguments, or a list with --from-file FILE.');
    if (column !== undefined && fromFile === undefined)
      throw usageError('--column needs --from-file', 'Name the file with --from-file FILE.');
    const list = new RecipientList(reason);
    for (const word of words) list.add(word);
    if (fromFile !== undefined) await list.addFile(io.files, fromFile, column);
    const { invalid, valid, errors } = list;
    if (valid + invalid === 0) throw inputError('no recipients', 'The file has no rows.');
    if (invalid > 0) {
      const fails = !skipInvalid || valid === 0;
      const { mask, isMachine } = io.printer;
      const rows = errors.map(({ error, cell }) => (mask ? maskCells(error, [cell]) : error));
      io.attach({ invalid, rows });
      if (!(fails && isMachine)) for (const row of rows) io.warn(row);
      if (fails) throw badRows(list);
    }
    const { project, ...store } = await ownedProject(context, options);
    const row = { added: 0, already_there: 0, invalid };
    await io.withProgress('Adding recipients', async () => {
      for (const [why, to] of list.byReason) {
        const { added, existing } = await project.suppressions.add(to, why);
        row.added += added;
        row.already_there += existing;
      }
    });
    await io.print(view, row);
    noteStore(io, store);
    if (invalid === 0) return;
    io.conclude(`${counted(invalid, 'invalid recipient')} left out.`);
    throw new Ended(exits.partly);
  });
};

function badRows({ valid, invalid }: RecipientList): CliError {
  const [are, them] = invalid === 1 ? ['is', 'it'] : ['are', 'them'];
  const others = valid > 0 ? ', or add the others with --skip-invalid' : '';
  const what = `${grouped(invalid)} of ${counted(valid + invalid, 'recipient')} ${are} invalid; nothing was added`;
  return new CliError('bad_rows', exits.input, what, { hint: `Fix ${them}${others}.` });
}
