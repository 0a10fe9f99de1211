import type { Delivery } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { readCount } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { addDataOption, administration, type DataOptions } from './data.js';

const view: View<Delivery> = {
  columns: [
    field('delivered_at', { kind: 'time' }),
    field('channel'),
    field('to', { kind: 'recipient' }),
    field('route'),
    field('subject', { detail: true }),
    { name: 'text', value: ({ text, html }) => text ?? html },
    field('html', { detail: true }),
    field('from', { detail: true }),
    field('reply_to', { detail: true }),
    field('message_id', { detail: true }),
  ],
  record: (delivery) => delivery,
  empty: 'No messages yet.',
};

interface Options extends DataOptions {
  to?: string;
  limit?: number;
}

export const sandboxOutbox: CommandBody<'io' | 'network' | 'config'> = (command, { io, network, config }) => {
  command
    .description('Show the messages that the embedded service delivered, with texts and codes.')
    .option('--to <recipient>', 'only messages to this recipient')
    .option('--limit <n>', 'only the newest n messages', readCount);
  addDataOption(command);
  addHelp(command, {
    view,
    examples: [
      ['urtuu sandbox outbox', 'all messages, oldest first'],
      ['urtuu sandbox outbox --to 99112233 --limit 1 --json', 'the newest message to a number'],
    ],
    exits: [],
    json: '[{"delivered_at": "2026-11-21T08:00:00.100Z", "channel": "sms", "to": "99112233", "route": "Mobicom", "subject": null, "text": "...", "html": null, "from": null, "reply_to": null, "message_id": "0b6f...2c"}]',
  });
  command.action(async ({ to, limit, ...data }: Options) => {
    const service = await administration(network, config, data);
    const deliveries = service.outbox(to === undefined ? {} : { to });
    await io.printAll(view, limit === undefined ? deliveries : newest(deliveries, limit));
  });
};

async function* newest<Each>(all: AsyncIterable<Each>, limit: number): AsyncGenerator<Each> {
  const kept: Each[] = [];
  for await (const each of all) {
    kept.push(each);
    if (kept.length > limit) kept.shift();
  }
  yield* kept;
}
