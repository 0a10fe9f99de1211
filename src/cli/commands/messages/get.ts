import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { addIdOptions, type IdSource, readIds } from '../../input/ids.js';
import { show } from '../../lookup/lookup.js';
import { messageResource } from '../../lookup/resources.js';
import { addWaitOptions, type WaitOptions } from '../../lookup/wait.js';
import { messageExample, missingExample } from '../../output/examples.js';
import { messageView } from '../../output/views.js';

export const messagesGet: CommandBody<'io' | 'network' | 'clock' | 'signal'> = (command, context) => {
  command.description('Show messages, in the order of the ids, within the rate limit of the service.');
  addIdOptions(command);
  addWaitOptions(command, 'every message is sent or failed');
  addHelp(command, {
    view: messageView,
    effects: ['reads'],
    examples: [
      ['urtuu messages get 0b6f...2c --wait', 'wait until an email is sent or failed'],
      ['urtuu messages get --from-file report.csv --column message_id -o csv', 'look up the ids of a report'],
    ],
    ok: 'all found; with --wait, all sent',
    exits: [3, 4, 5, 8, 9, 12, 14],
    json: [
      ['of one id', messageExample],
      ['of several', `[${messageExample}, ${missingExample}]`],
    ],
  });
  command.action(async (given: string[], options: IdSource & WaitOptions) => {
    const ids = await readIds(context.io.files, given, options);
    await show(context, messageView, messageResource(await context.network.client()), ids, options);
  });
};
