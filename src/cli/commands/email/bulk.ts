import type { CommandBody } from '../../command.js';
import { emailPreflightExample, emailSummaryExample } from '../../output/examples.js';
import { addBulkCommand } from '../bulk/bulk-command.js';

export const emailBulk: CommandBody = (command, context) => {
  command
    .description('Send an email to every recipient in a CSV file or Excel workbook, exactly once.')
    .usage('[options] <file>')
    .argument(
      '[file]',
      'CSV file or Excel workbook (.xlsx) with a column of email addresses, or - for standard input',
    )
    .option('--subject <text>', 'subject, up to 255 characters; {column} inserts a value of the row')
    .option('--text <text>', 'plain-text body, with {column} too')
    .option('--text-file <file>', 'read the plain-text body from a file')
    .option('--html <html>', 'HTML body, with {column} too; inserted values are escaped')
    .option('--html-file <file>', 'read the HTML body from a file')
    .option('--from-name <name>', 'name of the sender')
    .option('--reply-to <address>', 'address for replies');
  addBulkCommand(command, context, 'email', {
    examples: [
      [
        "urtuu email bulk members.csv --subject 'Hello {name}' --html-file news.html --dry-run",
        'what it would cost',
      ],
      ['urtuu email bulk members.csv --subject News --text-file news.txt --yes --wait', 'in a script'],
    ],
    json: [
      ['', emailSummaryExample],
      ['with --dry-run', emailPreflightExample],
    ],
  });
};
