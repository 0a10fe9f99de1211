import type { CommandBody } from '../../command.js';
import { emailPreflightExample, emailProofExample, emailSummaryExample } from '../../output/examples.js';
import { addContentOptions } from '../../single/email.js';
import { addBulkCommand } from '../bulk/bulk-command.js';

export const emailBulk: CommandBody = (command, context) => {
  command
    .description(
      'Send an email to every recipient in a CSV file or Excel workbook. If interrupted, run it again: it resumes and sends nothing twice.',
    )
    .usage('[options] <file>')
    .argument(
      '[file]',
      'CSV file or Excel workbook (.xlsx) with a column of email addresses, or - for standard input',
    );
  addContentOptions(command, { isForRows: true });
  addBulkCommand(command, context, 'email', {
    examples: [
      [
        "urtuu email bulk members.csv --subject 'Hello {name}' --html-file news.html --dry-run",
        'what it would cost',
      ],
      ['urtuu email bulk members.csv --subject News --text-file news.txt --yes --wait', 'in a script'],
      ['urtuu email bulk members.rejected.csv --like july --yes', 'with the texts and options of a job'],
    ],
    json: [
      ['', emailSummaryExample],
      ['with --dry-run', emailPreflightExample],
      ['with --proof', emailProofExample],
    ],
  });
};
