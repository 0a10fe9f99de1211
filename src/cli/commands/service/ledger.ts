import type { LedgerEntry } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { readTime, timeOf, type WrittenTime } from '../../input/time.js';
import { readLimit, sayMore } from '../../lookup/list.js';
import { field, type View } from '../../output/view.js';
import { grouped } from '../../text/wording.js';
import { addProjectOption, ownedProject, type ProjectOptions } from './project.js';
import { addStoreOptions, noteStore } from './store.js';

const view: View<LedgerEntry> = {
  columns: [
    field('created_at', { kind: 'time' }),
    field('amount', { kind: 'number' }),
    field('reason'),
    field('subject_id', { detail: true }),
    field('note'),
  ],
  record: ({ created_at, amount, reason, subject_id, note }) => ({
    created_at,
    amount,
    reason,
    subject_id,
    note,
  }),
};

interface Options extends ProjectOptions {
  since?: WrittenTime;
  limit?: number;
}

const tableLimit = 100;

export const serviceLedger: CommandBody<'io' | 'network' | 'config' | 'clock'> = (command, context) => {
  command
    .description('List every change of the balance of a project, newest first.')
    .option('--since <time>', 'made at this time or later: 2h or 7d ago, a date, an ISO time', readTime)
    .option(
      '--limit <n>',
      `how many to list (default: ${tableLimit} in a table, all for programs)`,
      readLimit,
    );
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['reads'],
    examples: [
      ['urtuu service ledger --since 30d -o csv > ledger.csv', 'a month for the accounts'],
      ['urtuu service ledger --project Shop --limit 20', 'the newest entries of a project'],
    ],
    exits: [12],
    json: '[{"created_at": "2026-11-21T08:00:00.000Z", "amount": -10, "reason": "message", "subject_id": "0b6f...2c", "note": null}]',
  });
  command.action(async ({ since, limit, ...options }: Options) => {
    const { io, clock } = context;
    const store = await ownedProject(context, options);
    const most = limit ?? (io.printer.isMachine ? Number.POSITIVE_INFINITY : tableLimit);
    const progress = { more: false };
    const from = since === undefined ? {} : { since: timeOf(since, clock.now()) };
    await io.printAll(view, atMost(store.project.newestLedger(from), most, progress));
    if (progress.more) sayMore(io, grouped(most), limit);
    noteStore(io, store);
  });
};

async function* atMost<Item>(
  items: AsyncIterable<Item>,
  most: number,
  progress: { more: boolean },
): AsyncGenerator<Item> {
  let count = 0;
  for await (const item of items) {
    progress.more = count === most;
    if (progress.more) return;
    count += 1;
    yield item;
  }
}
