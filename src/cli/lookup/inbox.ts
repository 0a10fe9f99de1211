import type { Command } from 'commander';
import type { InboxFilter, InboxMessage, Page, PageOptions } from '../../contract/index.js';
import { field, type View } from '../output/view.js';
import { addListOptions, type ListContext, type ListOptions, showList } from './list.js';

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
    field('subject', { ifAny: true }),
    field('text', { ifAny: true }),
    field('waits_for_parts', { detail: true }),
    field('id', { detail: true }),
  ],
  record: ({ created_at: _, ...message }) => ({ subject: null, text: null, ...message }),
  empty: 'No incoming messages.',
};

/** Said where they are missing. */
export const scopeNote = 'Subjects and texts need a key with the scope inbox.';

/** With --follow, each message is listed once, in its final form. */
const isReady = ({ waits_for_parts }: Row) => !waits_for_parts;

/** Adds the options of an inbox, and returns what the help of the command `name` shows. */
export function addInboxOptions(command: Command, name: string) {
  addListOptions(command, 'messages', 'received');
  return {
    view,
    effects: ['reads'] as const,
    examples: [
      [`urtuu ${name} --limit 20`, 'the newest messages'],
      [`urtuu ${name} --follow -o ndjson`, 'messages as they arrive, for a program'],
    ] as const,
    notes: [
      'An SMS in parts is one message; […] is a missing part. --follow lists it when it',
      'is complete, or half an hour after its first part.',
    ],
    json: '[{"received_at": "2026-11-22T08:00:00.000Z", "channel": "email", "from": "bold@example.com", "to": "no-reply@shop.mn", "subject": "Re: Your order", "text": "...", "waits_for_parts": false, "id": "3f0a...7d"}]',
  };
}

/** `hint`: where else to look if the service has no inbox. */
export async function showInbox(
  context: ListContext,
  list: (filter: InboxFilter & PageOptions) => PromiseLike<Page<InboxMessage>>,
  options: ListOptions & { hint?: string },
): Promise<void> {
  let isNoted = false;
  await showList(
    context,
    view,
    async (page) => {
      const { data, next } = await list(page);
      if (!isNoted && data.some(({ text }) => text === undefined)) {
        isNoted = true;
        context.io.note(scopeNote);
      }
      return { data: data.map((message) => ({ ...message, created_at: message.received_at })), next };
    },
    { ...options, matchesLater: false, isReady },
  );
}
