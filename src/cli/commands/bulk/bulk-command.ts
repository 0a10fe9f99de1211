import type { Command } from 'commander';
import type { Channel } from '../../../contract/index.js';
import type { Context } from '../../context.js';
import { addHelp, type CommandHelp } from '../../help/command-help.js';
import type { View } from '../../output/view.js';
import { heldView } from './confirm/not-sent.js';
import { preflightView } from './confirm/preflight.js';
import { summaryView } from './finish/summary-view.js';
import { addCarryOutOptions, addInputOptions, type BulkOptions } from './options.js';
import { likened } from './prepare/like.js';
import { prepareJob } from './prepare/prepare.js';
import { proofEstimateView, proofView } from './proof/messages.js';
import { proofOf, typedOptions } from './proof/proof.js';
import { finishAndRetry } from './retry.js';
import { carryOut } from './run.js';

const viewOf = ({ dryRun, proof, hold }: Record<string, unknown>): View<never> => {
  if (proof !== undefined) return (dryRun ? proofEstimateView : proofView) as View<never>;
  return (dryRun ? preflightView : hold ? heldView : summaryView) as View<never>;
};

/** Adds the options, help and action that `sms bulk` and `email bulk` share. */
export function addBulkCommand(
  command: Command,
  context: Context,
  channel: Channel,
  help: Pick<CommandHelp, 'examples' | 'json'>,
): void {
  addInputOptions(command);
  addCarryOutOptions(command);
  addHelp(command, {
    ...help,
    view: viewOf,
    notes: ['--hold prints the JSON of --dry-run, plus state, plan and command.'],
    effects: ['sends', 'spends'],
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
  });
  const typed = typedOptions(command);
  command.action(async (file: string | undefined, given: BulkOptions) => {
    const proof = proofOf(channel, given, typed);
    // The job itself retries, and records every attempt.
    if (proof === null) command.setOptionValueWithSource('maxRetries', 0, 'implied');
    const isTyped = (name: string) => command.getOptionValueSource(name) === 'cli';
    const like = await likened(context, channel, given, isTyped);
    const prepared = await prepareJob(context, channel, file, like, proof);
    if (prepared === null) return;
    const { job, input, options } = prepared;
    const start = { input, hasPreflight: true };
    if (options.retryFailed) await finishAndRetry(context, job, options, start);
    else await carryOut(context, job, options, start);
  });
}
