import type { Suppression } from '../../../../service/index.js';
import type { CommandBody } from '../../../command.js';
import { addHelp } from '../../../help/command-help.js';
import { defaultLimit, readLimit, showList } from '../../../lookup/list.js';
import { field, type View } from '../../../output/view.js';
import { counted } from '../../../text/wording.js';
import { addProjectOption, ownedProject, type ProjectOptions } from '../project.js';
import { addStoreOptions, noteStore } from '../store.js';

interface Row extends Suppression {
  id: string;
}

const view: View<Row> = {
  columns: [field('to', { kind: 'recipient' }), field('reason'), field('created_at', { kind: 'time' })],
  record: ({ id: _, ...suppression }) => suppression,
  empty: 'Nobody is on the do-not-send list.',
};

interface Options extends ProjectOptions {
  limit?: number;
}

type Needs = 'io' | 'network' | 'config' | 'clock' | 'signal';

export const serviceSuppressionsList: CommandBody<Needs> = (command, context) => {
  command
    .description('List the do-not-send list of a project, newest first.')
    .option('--limit <n>', 'how many recipients to list (default 100)', readLimit);
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['reads'],
    notes: [
      'Messages to these recipients are refused, or fail in a batch and are refunded.',
      'With the setting `suppressions`, bounces and stop words add to the list. Machine',
      'formats list all but erased recipients, whom only this service knows.',
    ],
    examples: [
      ['urtuu service suppressions list', 'the newest 100'],
      ['urtuu service suppressions list -o csv > do-not-send.csv', 'all of them, to add to another service'],
    ],
    exits: [5, 12],
    json: '[{"to": "bold@example.com", "reason": "unknown_recipient", "created_at": "2026-11-22T08:00:00.000Z"}]',
  });
  command.action(async ({ limit, ...options }: Options) => {
    const { io } = context;
    const store = await ownedProject(context, options);
    let erased = 0;
    await showList(
      context,
      view,
      async ({ since: _, ...page }) => {
        const { data, next } = await store.project.suppressions.list(page);
        const shown = io.printer.isMachine ? data.filter(({ to }) => !to.startsWith('erased:')) : data;
        erased += data.length - shown.length;
        return { data: shown.map((suppression) => ({ id: suppression.to, ...suppression })), next };
      },
      {
        limit: limit ?? (io.printer.isMachine ? Number.POSITIVE_INFINITY : defaultLimit),
        matchesLater: false,
      },
    );
    if (erased > 0) io.warn(`${counted(erased, 'erased recipient')} left out`);
    noteStore(io, store);
  });
};
