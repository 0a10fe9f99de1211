import type { InboxMessage } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { readLimit, showList } from '../../lookup/list.js';
import { field, type View } from '../../output/view.js';
import { addProjectOption, ownedProject, type ProjectOptions } from './project.js';
import { addStoreOptions, noteStore } from './store.js';

interface Row extends InboxMessage {
  /** Named as in other lists. */
  created_at: string;
}

const view: View<Row> = {
  columns: [
    field('received_at', { kind: 'time' }),
    field('channel', { detail: true }),
    field('from', { kind: 'recipient' }),
    field('to', { kind: 'recipient' }),
    field('subject'),
    field('text'),
    field('waits_for_parts', { detail: true }),
    field('id', { detail: true }),
  ],
  record: ({ created_at: _, ...message }) => message,
  empty: 'No incoming messages.',
};

/** With --follow, each message is listed once, in its final form. */
const isReady = ({ waits_for_parts }: Row) => !waits_for_parts;

interface Options extends ProjectOptions {
  limit?: number;
  follow?: boolean;
}

export const serviceInbox: CommandBody<'io' | 'network' | 'config' | 'clock' | 'signal'> = (
  command,
  context,
) => {
  command
    .description('List what a project received, newest first: mail to its own domain, SMS to its number.')
    .option('--limit <n>', 'how many messages to list (default 100)', readLimit)
    .option('--follow', 'list the oldest first, then new messages as they arrive, until Ctrl-C');
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['reads'],
    notes: [
      'An SMS in parts is one message; […] is a missing part. --follow lists it when it',
      'is complete, or half an hour after its first part.',
    ],
    examples: [
      ['urtuu service inbox --limit 20', 'the newest messages'],
      ['urtuu service inbox --follow -o ndjson', 'messages as they arrive, for a program'],
    ],
    exits: [5, 12],
    json: '[{"received_at": "2026-11-22T08:00:00.000Z", "channel": "email", "from": "bold@example.com", "to": "no-reply@shop.mn", "subject": "Re: Your order", "text": "...", "waits_for_parts": false, "id": "3f0a...7d"}]',
  });
  command.action(async ({ limit, follow, ...options }: Options) => {
    const store = await ownedProject(context, options);
    await showList(
      context,
      view,
      async ({ since = '', ...page }) => {
        const { data, next } = await store.project.inbox(page);
        const rows = data.map((message) => ({ ...message, created_at: message.received_at }));
        const recent = rows.filter(({ created_at: at }) => at >= since);
        return { data: recent, next: recent.length < rows.length ? null : next };
      },
      {
        ...(limit === undefined ? {} : { limit }),
        ...(follow ? { follow } : {}),
        matchesLater: false,
        isReady,
      },
    );
    noteStore(context.io, store);
  });
};
