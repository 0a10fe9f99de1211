import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { addInboxOptions, scopeNote, showInbox } from '../../lookup/inbox.js';
import { extensionNote, type ListOptions } from '../../lookup/list.js';

export const inboxList: CommandBody<'io' | 'network' | 'clock' | 'signal'> = (command, context) => {
  command.description(
    'List what the project received, newest first: replies by SMS, mail to its own domain.',
  );
  const { notes, ...help } = addInboxOptions(command, 'inbox list');
  addHelp(command, {
    ...help,
    exits: [4, 5, 8, 12],
    notes: [...notes, scopeNote, extensionNote],
  });
  command.action(async (options: ListOptions) => {
    const { inbox } = await context.network.client();
    const hint = 'On the machine of the service: `urtuu service inbox`';
    await showInbox(context, (filter) => inbox.list(filter), { ...options, hint });
  });
};
