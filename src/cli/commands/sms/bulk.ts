import type { CommandBody } from '../../command.js';
import { gsmOption } from '../../input/text.js';
import { preflightExample, proofExample, summaryExample } from '../../output/examples.js';
import { addBulkCommand } from '../bulk/bulk-command.js';

export const smsBulk: CommandBody = (command, context) => {
  command
    .description(
      'Send an SMS to every recipient in a CSV file or Excel workbook. If interrupted, run it again: it resumes and sends nothing twice.',
    )
    .usage('[options] <file>')
    .argument(
      '[file]',
      'CSV file or Excel workbook (.xlsx) with a column of phone numbers, or - for standard input',
    )
    .option('--text <text>', 'text of the SMS; {column} inserts a value of the row, {{ and }} are braces')
    .option('--text-file <file>', 'read the text from a file')
    .option(...gsmOption);
  addBulkCommand(command, context, 'sms', {
    examples: [
      ["urtuu sms bulk customers.csv --text 'Сайн байна уу, {name}' --dry-run", 'what it would cost'],
      ['urtuu sms bulk list.csv --text-file text.txt --yes --wait --report report.csv', 'in a script'],
      ['urtuu sms bulk list.rejected.csv --like july --yes', 'with the texts and options of a job'],
    ],
    json: [
      ['', summaryExample],
      ['with --dry-run', preflightExample],
      ['with --proof', proofExample],
    ],
  });
};
