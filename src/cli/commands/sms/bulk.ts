import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { preflightExample, summaryExample } from '../../output/examples.js';
import { addCarryOutOptions, addInputOptions, type BulkOptions } from '../bulk/options.js';
import { bulkView, startJob } from '../bulk/prepare.js';
import { carryOut } from '../bulk/run.js';

export const smsBulk: CommandBody = (command, context) => {
  command
    .description('Send an SMS to everybody in a CSV file, exactly once, whatever happens on the way.')
    .usage('[options] <file>')
    .argument('[file]', 'CSV file with a column of numbers; - reads standard input')
    .option('--text <text>', 'the text; {column} puts in what the row has, {{ and }} are braces')
    .option('--text-file <file>', 'read the text from a file');
  addInputOptions(command);
  addCarryOutOptions(command);
  describe(command, {
    view: bulkView,
    sends: true,
    examples: [
      ["urtuu sms bulk customers.csv --text 'Сайн байна уу, {name}' --dry-run", 'what it would cost'],
      ['urtuu sms bulk list.csv --text-file text.txt --yes --wait --report report.csv', 'in a script'],
    ],
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
    json: [
      ['', summaryExample],
      ['with --dry-run', preflightExample],
    ],
  });
  command.action(async (file: string | undefined, options: BulkOptions) => {
    // The job retries by itself, with a record of every try.
    command.setOptionValueWithSource('maxRetries', 0, 'implied');
    const started = await startJob(context, 'sms', file, options);
    if (started !== null) await carryOut(context, started.job, options, started.leftOut);
  });
};
