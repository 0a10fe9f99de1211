import type { DeliveryState, MessageStatus } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { wantedRecipient } from '../../input/recipients.js';
import { addListOptions, extensionNote, type ListOptions, showList } from '../../lookup/list.js';
import { readChoice } from '../../options.js';
import { messageExample } from '../../output/examples.js';
import { messageListView } from '../../output/views.js';

interface Options extends ListOptions {
  to?: string;
  status?: MessageStatus;
  delivery?: DeliveryState;
  batch?: string;
}

export const messagesList: CommandBody<'io' | 'network' | 'clock' | 'signal'> = (command, context) => {
  command
    .description('List the messages of the project, newest first, including verification codes.')
    .option('--to <recipient>', 'only messages to this number or address')
    .option(
      '--status <status>',
      'only this status: queued, sent or failed',
      readChoice('queued', 'sent', 'failed'),
    )
    .option(
      '--delivery <report>',
      'only this delivery report: delivered, undelivered, bounced, unknown',
      readChoice('delivered', 'undelivered', 'bounced', 'unknown'),
    )
    .option('--batch <id>', 'only messages of this batch');
  addListOptions(command, 'messages');
  addHelp(command, {
    view: messageListView,
    effects: ['reads'],
    examples: [
      ['urtuu messages list --to 99112233 --since 7d', 'the messages of a week to a number'],
      ['urtuu messages list --status failed --follow -o ndjson', 'failed messages, as they come'],
    ],
    exits: [4, 5, 8, 12],
    json: `[${messageExample}]`,
    notes: [extensionNote],
  });
  command.action(async ({ to: written, status, delivery, batch, ...options }: Options) => {
    const to = written === undefined ? undefined : wantedRecipient(written);
    const { messages } = await context.network.client();
    const filter = { to, status, delivery, batch_id: batch };
    const matchesLater = status !== undefined || delivery !== undefined;
    await showList(context, messageListView, async (page) => messages.list({ ...filter, ...page }), {
      ...options,
      matchesLater,
    });
  });
};
