import type { Suppression } from '../../../../service/index.js';
import type { CommandBody } from '../../../command.js';
import { addHelp } from '../../../help/command-help.js';
import { readLimit, showList } from '../../../lookup/list.js';
import { field, type View } from '../../../output/view.js';
import { addProjectOption, ownedProject, type ProjectOptions } from '../project.js';
import { addStoreOptions, noteStore } from '../store.js';

interface Row extends Suppression {
  id: string;
}

const view: View<Row> = {
  columns: [field('to', { kind: 'recipient' }), field('reason'), field('created_at', { kind: 'time' })],
  record: ({ id: _, ...suppression }) => suppression,
  empty: 'No recipient is suppressed.',
};

interface Options extends ProjectOptions {
  limit?: number;
}

type Needs = 'io' | 'network' | 'config' | 'clock' | 'signal';

export const serviceSuppressionsList: CommandBody<Needs> = (command, context) => {
  command
    .description('List the suppressed recipients of a project, newest first.')
    .option('--limit <n>', 'how many recipients to list (default 100)', readLimit);
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['reads'],
    notes: [
      'With the setting `suppressions`, nothing more is sent to an address that',
      'bounced, or a number unknown to its operator: messages to it fail and are',
      'refunded.',
    ],
    examples: [
      ['urtuu service suppressions list', 'the newest 100'],
      ['urtuu service suppressions list --limit 10000 -o csv', 'many of them, for a spreadsheet'],
    ],
    exits: [5, 12],
    json: '[{"to": "bold@example.com", "reason": "it bounced with status 5.1.1", "created_at": "2026-11-22T08:00:00.000Z"}]',
  });
  command.action(async ({ limit, ...options }: Options) => {
    const store = await ownedProject(context, options);
    await showList(
      context,
      view,
      async ({ since: _, ...page }) => {
        const { data, next } = await store.project.suppressions.list(page);
        return { data: data.map((suppression) => ({ id: suppression.to, ...suppression })), next };
      },
      { ...(limit === undefined ? {} : { limit }), matchesLater: false },
    );
    noteStore(context.io, store);
  });
};
