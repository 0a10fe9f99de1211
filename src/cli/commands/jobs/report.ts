import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { readDuration } from '../../input/duration.js';
import { type ReportOptions, reportJob } from '../bulk/report.js';

export const jobsReport: CommandBody = (command, context) => {
  command
    .description(
      "Write the outcome of every row of a job: the input's columns and the receipts, as CSV or with -o.",
    )
    .argument('<job>', 'name or id of the job')
    .option('--report <file>', 'where to write it; standard output without it')
    .option('--offline', 'only what this machine knows: batches are not asked for their messages')
    .option('--refresh', 'read every message again, for delivery reports that came later')
    .addOption(
      command
        .createOption('--wait-timeout <duration>', 'how long to wait for an answer of the service')
        .argParser(readDuration)
        .default(600_000),
    );
  describe(command, {
    findsColumns: true,
    examples: [
      ['urtuu jobs report july-offer --report report.csv', 'all rows'],
      ["urtuu sms bulk report.csv --only failed --text 'Hi {name}' --dry-run", 'send the failed ones again'],
    ],
    exits: [4, 5, 11, 12, 14],
  });
  command.action(async (id: string, options: ReportOptions) => {
    // Each page is asked for again by itself, with a token for every try.
    command.setOptionValueWithSource('maxRetries', 0, 'implied');
    await reportJob(context, id, options);
  });
};
