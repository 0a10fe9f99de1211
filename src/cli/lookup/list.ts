import { type Command, InvalidArgumentError } from 'commander';
import { UrtuuError } from '../../client/index.js';
import type { Channel, InboxFilter, Page, PageOptions } from '../../contract/index.js';
import type { Context } from '../context.js';
import { CliError, usageError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { readTime, timeOf, type WrittenTime } from '../input/time.js';
import { readChoice, readCount } from '../options.js';
import type { View } from '../output/view.js';
import { pages, type ReadPage } from '../reader/pages.js';
import { grouped } from '../text/wording.js';
import { type FollowOptions, followed } from './follow.js';

export interface ListOptions {
  channel?: Channel;
  since?: WrittenTime;
  until?: WrittenTime;
  limit?: number;
  follow?: boolean;
}

export type ListContext = Pick<Context, 'io' | 'clock' | 'signal' | 'network'>;

export const defaultLimit = 100;

export const extensionNote = 'An extension of urtuu. Exit 12: the service does not offer it.';

/** Adds the options of every list; `what` is the plural of its items, which were `made` at their time. */
export function addListOptions(command: Command, what: string, made = 'created'): void {
  command
    .option('--channel <channel>', 'only this channel: sms or email', readChoice('sms', 'email'))
    .option('--since <time>', `${made} at this time or later: 2h or 7d ago, a date, an ISO time`, readTime)
    .option('--until <time>', `${made} before this time`, readTime)
    .option('--limit <n>', `how many ${what} to list (default ${defaultLimit})`, readLimit)
    .option('--follow', `list the oldest first, then new ${what} as they arrive, until Ctrl-C`);
}

export function readLimit(written: string): number {
  const limit = readCount(written);
  if (limit === 0) throw new InvalidArgumentError('must be 1 or more');
  return limit;
}

/** How a list is shown; `hint`: where else to look if the service does not have it. */
type Showing<Item> = ListOptions & Omit<FollowOptions<Item>, 'limit'> & { hint?: string };

/**
 * Prints a list up to its limit, or follows it as FollowOptions say. Throws CliError (exit 12) if the service does not
 * have it. `read` gets the filters that all lists have.
 */
export async function showList<Item extends { id: string; created_at?: string }>(
  context: ListContext,
  view: View<Item>,
  read: (page: InboxFilter & PageOptions) => Promise<Page<Item>>,
  { channel, since, until, limit: chosen, follow, hint, ...how }: Showing<Item>,
): Promise<void> {
  const { io, clock } = context;
  const limit = chosen ?? defaultLimit;
  const now = clock.now();
  const [from, to] = [since && timeOf(since, now), until && timeOf(until, now)];
  const readOffered: ReadPage<Item> = ({ since: later, ...page }) =>
    read({ channel, since: (from ?? '') > (later ?? '') ? from : later, until: to, ...page }).catch((error) =>
      Promise.reject(offered(error, hint)),
    );
  if (!follow) {
    const progress = { count: 0, more: false };
    const items = newest(readOffered, limit, progress);
    // After an error on the first page there is nothing to print.
    const first = await items.next();
    await io.printAll(view, first.done ? [] : prepended(first.value, items));
    if (progress.more) sayMore(io, grouped(limit), chosen);
    return;
  }
  if (until !== undefined) throw usageError('--follow and --until cannot be combined', 'Use one of the two.');
  if (io.printer.format === 'json') {
    throw usageError('--follow never ends, so it cannot print a JSON array', 'Use --output ndjson.');
  }
  io.endless();
  await io.printer.batches(view, followed(context, readOffered, { limit, ...how }));
}

/** Says that a list is cut: to a program only if it did not choose the limit. */
export function sayMore(io: Context['io'], shown: string, chosen: number | undefined): void {
  const text = `Showing the newest ${shown}; raise --limit to see more.`;
  if (io.printer.isMachine && chosen === undefined) io.warn(text);
  else io.note(text);
}

async function* prepended<Item>(first: Item, rest: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}

/** The newest items, page by page; a page may be empty and still have a next one. */
async function* newest<Item>(
  read: ReadPage<Item>,
  limit: number,
  progress: { count: number; more: boolean },
): AsyncGenerator<Item> {
  for await (const { data, next } of pages(read, limit)) {
    const rest = limit - progress.count;
    yield* data.slice(0, rest);
    progress.count += Math.min(data.length, rest);
    progress.more = next !== null || data.length > rest;
    if (progress.count === limit) return;
  }
}

const lists =
  'Lists are an extension. Look up a single one by its id, or see what this machine sent: `urtuu history`';

/** Maps the error of a service without an extension to its own exit; other errors are passed on. */
export function offered(error: unknown, hint = lists): unknown {
  if (!(error instanceof UrtuuError) || (error.status !== 404 && error.status !== 405)) return error;
  return new CliError(error.code, exits.missing, error.message, {
    hint,
    details: { status: error.status, request_id: error.requestId },
  });
}
