import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { addInboxOptions, showInbox } from '../../lookup/inbox.js';
import { extensionNote, type ListOptions } from '../../lookup/list.js';

export const inboxList: CommandBody<'io' | 'network' | 'clock' | 'signal'> = (command, context) => {
  command.description(
    'List what the project received, newest first: replies by SMS, mail to its own domain.',
  );
  const { notes, ...help } = addInboxOptions(command);
  addHelp(command, {
    ...help,
    effects: ['reads'],
    examples: [
      ['urtuu inbox list --channel sms --since 1d', 'the SMS of a day'],
      ['urtuu inbox list --follow -o ndjson', 'messages as they arrive, for a program'],
    ],
    exits: [4, 5, 8, 12],
    notes: [...notes, 'Subjects and texts need a key with the scope inbox.', extensionNote],
  });
  command.action(async (options: ListOptions) => {
    const { inbox } = await context.network.client();
    const hint = 'On the machine of the service: `urtuu service inbox`';
    await showInbox(context, (filter) => inbox.list(filter), { ...options, hint });
  });
};
