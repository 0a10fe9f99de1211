import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { emailPreflightExample, emailSummaryExample } from '../../output/examples.js';
import { addCarryOutOptions, addInputOptions, type BulkOptions } from '../bulk/options.js';
import { bulkView, startJob } from '../bulk/prepare.js';
import { carryOut } from '../bulk/run.js';

export const emailBulk: CommandBody = (command, context) => {
  command
    .description('Send an email to everybody in a CSV file, exactly once, whatever happens on the way.')
    .usage('[options] <file>')
    .argument('[file]', 'CSV file with a column of addresses; - reads standard input')
    .option('--subject <text>', 'up to 255 characters; {column} puts in what the row has, here and below')
    .option('--text <text>', 'the plain text')
    .option('--text-file <file>', 'read the plain text from a file')
    .option('--html <html>', 'the HTML body; what is put in is escaped')
    .option('--html-file <file>', 'read the HTML body from a file')
    .option('--from-name <name>', "the sender's name")
    .option('--reply-to <address>', 'where replies go');
  addInputOptions(command);
  addCarryOutOptions(command);
  describe(command, {
    view: bulkView,
    sends: true,
    examples: [
      [
        "urtuu email bulk members.csv --subject 'Hello {name}' --html-file news.html --dry-run",
        'what it would cost',
      ],
      ['urtuu email bulk members.csv --subject News --text-file news.txt --yes --wait', 'in a script'],
    ],
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
    json: [
      ['', emailSummaryExample],
      ['with --dry-run', emailPreflightExample],
    ],
  });
  command.action(async (file: string | undefined, options: BulkOptions) => {
    // The job retries by itself, with a record of every try.
    command.setOptionValueWithSource('maxRetries', 0, 'implied');
    const started = await startJob(context, 'email', file, options);
    if (started !== null) await carryOut(context, started.job, options, started.leftOut);
  });
};
