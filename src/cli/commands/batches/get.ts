import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { addIdOptions, type IdSource, readIds } from '../../input/ids.js';
import { showMessagesOf } from '../../lookup/batch-messages.js';
import { show } from '../../lookup/lookup.js';
import { batchResource } from '../../lookup/resources.js';
import { addWaitOptions, type WaitOptions } from '../../lookup/wait.js';
import { batchExample, messageExample, missingExample } from '../../output/examples.js';
import type { View } from '../../output/view.js';
import { batchView, messageView } from '../../output/views.js';

interface Options extends IdSource, WaitOptions {
  messages?: boolean;
}

export const batchesGet: CommandBody<'io' | 'network' | 'clock' | 'signal'> = (command, context) => {
  command.description('Show the progress of batches, in the order of the ids.');
  addIdOptions(command);
  command.option('--messages', 'list the messages of each batch instead');
  addWaitOptions(command, 'every batch is completed');
  addHelp(command, {
    view: ({ messages }) => (messages ? messageView : batchView) as View<never>,
    effects: ['reads'],
    examples: [
      ['urtuu batches get 51de...90 --wait', 'wait until a batch is completed'],
      ['urtuu batches get 51de...90 --messages -o csv > messages.csv', 'the messages of a batch as CSV'],
    ],
    ok: 'all found; with --wait, all sent',
    exits: [3, 4, 5, 6, 8, 9, 12, 14],
    json: [
      ['of one id', batchExample],
      ['of several', `[${batchExample}, ${missingExample}]`],
      ['with --messages', `[${messageExample}]`],
    ],
  });
  command.action(async (given: string[], options: Options) => {
    const ids = await readIds(context.io.files, given, options);
    const client = await context.network.client();
    if (options.messages) return showMessagesOf(context, client, ids, options);
    await show(context, batchView, batchResource(client), ids, options);
  });
};
