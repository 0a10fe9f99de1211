import type { Delivery } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { wantedRecipient } from '../../input/recipients.js';
import { readCount } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { textOfHtml } from '../../text/html-text.js';
import { noteStore, type StoreOptions } from '../service/store.js';
import { addSandboxOptions, noteNoMessages, sandboxStore } from './data.js';
import { followedDeliveries } from './follow.js';

/** Of an HTML body without a plain text. */
const longestExcerpt = 200;

const view: View<Delivery> = {
  columns: [
    field('delivered_at', { kind: 'time' }),
    field('channel'),
    field('to', { kind: 'recipient' }),
    field('route', { detail: true }),
    field('subject'),
    { name: 'text', value: ({ text, html }) => text ?? (html && excerptOf(html)) },
    field('code', { detail: true }),
    field('html', { detail: true }),
    field('from', { detail: true }),
    field('reply_to', { detail: true }),
    field('message_id', { detail: true }),
  ],
  record: (delivery) => delivery,
};

function excerptOf(html: string): string {
  const text = textOfHtml(html).replace(/\s+/g, ' ');
  return text.length > longestExcerpt ? `${text.slice(0, longestExcerpt)}…` : text;
}

interface Options extends StoreOptions {
  to?: string;
  limit?: number;
  follow?: boolean;
}

export const sandboxOutbox: CommandBody<'io' | 'network' | 'config' | 'clock'> = (command, context) => {
  command
    .description('Show the messages that the embedded service delivered, with texts and codes.')
    .option('--to <recipient>', 'only messages to this recipient')
    .option('--limit <n>', 'only the newest n messages', readCount)
    .option('--follow', 'print new messages until Ctrl-C');
  addSandboxOptions(command);
  addHelp(command, {
    view,
    effects: ['reads'],
    examples: [
      ['urtuu sandbox outbox', 'all messages, oldest first'],
      ['urtuu sandbox outbox --to 99112233 --limit 1 --json', 'the newest message to a number'],
    ],
    exits: [8, 12],
    json: '[{"delivered_at": "2026-11-21T08:00:00.100Z", "channel": "sms", "to": "99112233", "route": "Mobicom", "subject": null, "text": "...", "code": null, "html": null, "from": null, "reply_to": null, "message_id": "0b6f...2c"}]',
  });
  command.action(async ({ to, limit, follow = false, ...options }: Options) => {
    const { io, clock } = context;
    if (follow && io.printer.format === 'json')
      throw usageError('--follow never ends, so it cannot print a JSON array', 'Use --output ndjson.');
    const store = await sandboxStore(context, options);
    const outbox = store.administration.outbox.bind(store.administration);
    const filter = to === undefined ? {} : { to: wantedRecipient(to) };
    if (follow) {
      noteStore(io, store);
      io.endless();
      return io.printer.batches(view, followedDeliveries(outbox, clock, { ...filter, limit }));
    }
    const count = await io.printer.many(view, outbox(limit === undefined ? filter : { ...filter, limit }));
    if (count === 0) noteNoMessages(context, store);
    else noteStore(io, store);
  });
};
