import type { BatchStatus } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { addListOptions, extensionNote, type ListOptions, showList } from '../../lookup/list.js';
import { readChoice } from '../../options.js';
import { batchExample } from '../../output/examples.js';
import { batchListView } from '../../output/views.js';

interface Options extends ListOptions {
  status?: BatchStatus;
}

export const batchesList: CommandBody<'io' | 'network' | 'clock' | 'signal'> = (command, context) => {
  command
    .description('List the batches of the project, newest first.')
    .option(
      '--status <status>',
      'only this status: processing or completed',
      readChoice('processing', 'completed'),
    );
  addListOptions(command, 'batches');
  addHelp(command, {
    view: batchListView,
    effects: ['reads'],
    examples: [
      ['urtuu batches list --limit 5', 'the five newest batches'],
      ['urtuu batches list --status processing', 'batches that are still being sent'],
    ],
    exits: [4, 5, 8, 12],
    json: `[${batchExample}]`,
    notes: [extensionNote],
  });
  command.action(async ({ status, ...options }: Options) => {
    const { batches } = await context.network.client();
    await showList(context, batchListView, async (page) => batches.list({ status, ...page }), {
      ...options,
      matchesLater: status !== undefined,
    });
  });
};
