import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { readChoice } from '../../options.js';
import { summaryExample } from '../../output/examples.js';
import { summaryView } from '../bulk/finish/summary-view.js';
import { addCarryOutOptions } from '../bulk/options.js';
import { type RetryOptions, retryJob } from '../bulk/retry.js';
import { chosenJob } from './choose-job.js';

export const jobsRetry: CommandBody = (command, context) => {
  command
    .description(
      'Send the failed messages of a job again, as a new job with the same texts. It needs no list and no report.',
    )
    .argument('[job]', 'name or id of the job (default: the only one with failures)')
    .addOption(
      command
        .createOption('--status <status>', 'the messages to send again: failed, undelivered or unknown')
        .argParser(readChoice('failed', 'undelivered', 'unknown'))
        .default('failed'),
    )
    .option('--accept-duplicates', 'with --status unknown: some may get the message twice');
  addCarryOutOptions(command, { isRetry: true });
  addHelp(command, {
    view: summaryView,
    effects: ['sends', 'spends'],
    examples: [
      ['urtuu jobs retry july-offer', 'the failed messages, as the job july-offer-retry-1'],
      ['urtuu jobs retry july-offer --status undelivered --yes', 'in a script'],
    ],
    json: summaryExample,
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
  });
  command.action(async (given: string | undefined, options: RetryOptions) => {
    // The job itself retries, and records every attempt.
    command.setOptionValueWithSource('maxRetries', 0, 'implied');
    const fits = { verb: 'retry', fits: (row: { failed: number }) => row.failed > 0 };
    await retryJob(context, given ?? (await chosenJob(context, fits)), options);
  });
};
