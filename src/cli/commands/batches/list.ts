import type { BatchStatus } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { addListOptions, commonFilter, type ListOptions, laterOf, showList } from '../../lookup/list.js';
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
    notes: ['An extension of urtuu. Exit 12: the service does not offer it.'],
  });
  command.action(async ({ status, ...options }: Options) => {
    const { batches } = await context.network.client();
    const filter = { status, ...commonFilter(options, context.clock.now()) };
    await showList(
      context,
      batchListView,
      async ({ since, ...page }) => batches.list({ ...filter, ...page, since: laterOf(filter.since, since) }),
      { ...options, matchesLater: status !== undefined },
    );
  });
};
