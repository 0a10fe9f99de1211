import { InvalidArgumentError } from 'commander';
import { afterAll, type EventType, eventId, eventTypes, type UrtuuEvent } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { readChoice, readName } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { pagesOf, start } from './feed.js';
import { listenAs } from './listen-as.js';
import { defaultName } from './listener.js';

interface Options {
  name?: string;
  types?: EventType[];
  from?: string;
  forwardTo?: string;
  exec?: string;
}

/** What an event is about: a message, a batch, or a recipient. */
const about = ({ data }: UrtuuEvent) => data && ('id' in data ? data.id : data.to);

const view: View<UrtuuEvent> = {
  columns: [
    field('id', { detail: true }),
    field('type'),
    field('at', { kind: 'time' }),
    { name: 'about', value: about },
    { name: 'cursor', value: ({ id }) => id, detail: true },
  ],
  record: (event) => ({ ...event, cursor: event.id }),
};

export const eventsListen: CommandBody<'io' | 'network' | 'config' | 'clock' | 'signal'> = (
  command,
  context,
) => {
  command
    .description(
      'Print the events of the project as they happen. With --forward-to or --exec, deliver each event until it is taken, and continue from there next time.',
    )
    .option('--types <types>', `only these, comma-separated: ${eventTypes.join(', ')}`, readTypes)
    .option(
      '--from <place>',
      `where to begin: ${afterAll}, ${start} (7 days ago), or the cursor of an event (default ${afterAll})`,
      readPlace,
    )
    .option('--forward-to <url>', 'POST each event, signed; a 2xx answer takes it')
    .option('--exec <command>', 'run it with each event on standard input; exit 0 takes it', readName)
    .option('--name <name>', `name under which they keep their place (default ${defaultName})`);
  addHelp(command, {
    view,
    effects: ['reads'],
    examples: [
      ['urtuu events listen --types message.failed,message.delivery -o ndjson', 'for a program'],
      ['urtuu events listen --forward-to http://localhost:3000/events', 'a webhook without a tunnel'],
    ],
    endless: true,
    refused: 'this listener is already running, or has missed events that are gone',
    exits: [4, 5, 8, 11, 12],
    json: '{"id": "5f3c0a9e1b2d-17", "type": "message.sent", "at": "2026-11-28T08:00:00.100Z", "data": {"id": "0b6f...2c", "status": "sent"}, "cursor": "5f3c0a9e1b2d-17"}',
    notes: ['An extension of urtuu. Exit 12: the service does not offer it.'],
  });
  command.action(async ({ types, from, forwardTo, exec, name }: Options) => {
    const { io } = context;
    if (forwardTo !== undefined && exec !== undefined)
      throw usageError(
        '--forward-to and --exec cannot be combined',
        'Run two listeners, with a --name each.',
      );
    io.endless();
    if (forwardTo !== undefined || exec !== undefined)
      return listenAs(context, { name: name ?? defaultName, types, from, forwardTo, exec: exec ?? '' });
    if (name !== undefined)
      throw usageError('--name needs --forward-to or --exec', 'Only they keep a place.');
    if (io.printer.format === 'json')
      throw usageError('events never end, so they cannot be a JSON array', 'Use --output ndjson.');
    await io.printer.batches(view, printed(context, from ?? afterAll, types));
  });
};

const readType = readChoice(...eventTypes);
const readTypes = (written: string) => written.split(',').map((each) => readType(each.trim()));

/** A place in the feed, as `pagesOf` takes it. */
function readPlace(written: string): string {
  const place = written.toLowerCase();
  if (place === afterAll || place === start || eventId.test(place)) return place;
  throw new InvalidArgumentError(
    `'${written}' is not one of ${afterAll}, ${start}, or the cursor of an event`,
  );
}

async function* printed(
  context: Pick<Context, 'io' | 'network' | 'clock' | 'signal'>,
  from: string,
  types: EventType[] | undefined,
): AsyncGenerator<UrtuuEvent[], void> {
  const { printer } = context.io;
  for await (const { data } of pagesOf(context, from, types)) {
    // A closed pipe.
    if (printer.failure !== null) return;
    yield data.map((event) =>
      event.data && 'to' in event.data
        ? ({ ...event, data: { ...event.data, to: printer.recipient(event.data.to) } } as UrtuuEvent)
        : event,
    );
  }
}
