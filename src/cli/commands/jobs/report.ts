import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { readDuration } from '../../input/duration.js';
import { reportedExample } from '../../output/examples.js';
import { type ReportOptions, reportJob } from '../bulk/finish/report.js';
import { carryOutDefaults } from '../bulk/options.js';
import { chosenJob } from './choose-job.js';

export const jobsReport: CommandBody = (command, context) => {
  command
    .description(
      'Write the outcome of every row of a job, with the columns of its list: as CSV, as a workbook, or in the format of -o.',
    )
    .argument('[job]', 'name or id of the job (default: the only one)')
    .option('--report <file>', 'file to write, a workbook if it ends in .xlsx (default: standard output)')
    .option('--offline', 'use only the records of this machine; do not read batches from the service')
    .option('--refresh', 'read messages without a final receipt again')
    .addOption(
      command
        .createOption('--wait-timeout <duration>', 'how long to wait for the service')
        .argParser(readDuration)
        .default(carryOutDefaults.waitTimeout),
    );
  addHelp(command, {
    effects: ['reads'],
    findsColumns: true,
    examples: [
      ['urtuu jobs report july-offer --report report.csv', 'all rows'],
      ['urtuu sms bulk report.csv --only failed --like july-offer --dry-run', 'send the failed ones again'],
    ],
    exits: [4, 5, 11, 12, 14],
    json: [['with the columns of the list before them', reportedExample]],
  });
  command.action(async (given: string | undefined, options: ReportOptions) => {
    // Each page is retried separately, with a token for every attempt.
    command.setOptionValueWithSource('maxRetries', 0, 'implied');
    const id = given ?? (await chosenJob(context, { verb: 'report', fits: () => true }));
    await reportJob(context, id, options);
  });
};
