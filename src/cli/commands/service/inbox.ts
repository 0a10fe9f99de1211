import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { addInboxOptions, showInbox } from '../../lookup/inbox.js';
import type { ListOptions } from '../../lookup/list.js';
import { addProjectOption, ownedProject, type ProjectOptions } from './project.js';
import { addStoreOptions, noteStore } from './store.js';

export const serviceInbox: CommandBody<'io' | 'network' | 'config' | 'clock' | 'signal'> = (
  command,
  context,
) => {
  command.description(
    'List what a project received, newest first: mail to its own domain, SMS to its number.',
  );
  const help = addInboxOptions(command, 'service inbox');
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, { ...help, exits: [5, 12] });
  command.action(async (options: ListOptions & ProjectOptions) => {
    const store = await ownedProject(context, options);
    await showInbox(context, (filter) => store.project.inbox(filter), options);
    noteStore(context.io, store);
  });
};
