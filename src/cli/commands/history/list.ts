import { comparedRecipient, normalizeRecipient } from '../../../contract/index.js';
import { outcomes } from '../../bulk/job/counts.js';
import { jobIds } from '../../bulk/job/jobs-folder.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { addHelp } from '../../help/command-help.js';
import { clearHistory, type HistoryEntry, newestFirst, readHistory } from '../../history/file.js';
import { wantedRecipient } from '../../input/recipients.js';
import { confirmed } from '../../input/required.js';
import { readTime, timeOf, type WrittenTime } from '../../input/time.js';
import { defaultLimit, readLimit, sayMore } from '../../lookup/list.js';
import { type Column, field, type View } from '../../output/view.js';
import { counted, grouped } from '../../text/wording.js';
import { CreditSums } from '../jobs/credit-sums.js';
import { entriesOfRecipient } from './job-entries.js';

const noSends = 'No sends in the last 90 days.';

const view: View<HistoryEntry> = {
  columns: [
    field('time', { kind: 'time' }),
    field('base_url'),
    field('profile'),
    field('command'),
    field('to', { kind: 'recipient' }),
    field('channel'),
    field('id'),
    field('status', { kind: 'status' }),
    field('key'),
    field('job'),
    field('credits', { kind: 'number' }),
    field('planned', { kind: 'number' }),
    field('accepted', { kind: 'number' }),
    ...outcomes.map((name) => field<HistoryEntry>(name, { kind: 'number' })),
  ],
  record: (entry) => ({ ...noCounts, ...entry }),
  empty: noSends,
};

/** For people: a recipient, or a job with the number of its recipients. */
const tableFor = (recipient: (to: string) => string): Column<HistoryEntry>[] => [
  field('time', { kind: 'time' }),
  field('status', { kind: 'status' }),
  {
    name: 'to',
    value({ to, job, planned }) {
      if (to !== null) return job === null ? recipient(to) : `${recipient(to)} (${job})`;
      return planned === undefined ? job : `${job} (${counted(planned, 'recipient')})`;
    },
  },
  field('credits', { kind: 'number' }),
];

const noCounts = Object.fromEntries(
  ['credits', 'planned', 'accepted', ...outcomes].map((name) => [name, null]),
);

interface Options {
  to?: string;
  job?: string;
  since?: WrittenTime;
  until?: WrittenTime;
  limit?: number;
  clear?: boolean;
}

const example =
  '[{"time": "2026-11-21T08:00:00.120Z", "base_url": "http://127.0.0.1:7788/v1", "profile": "default", "command": "sms send", "to": "99112233", "channel": "sms", "id": "0b6f...2c", "status": "sent", "key": "1f0c...77", "job": null, "credits": 10, "planned": null, "accepted": null, "sent": null, "unknown": null, "queued": null, "failed": null, "suppressed": null, "rejected": null, "moved": null, "in_doubt": null, "pending": null}]';

export const history: CommandBody<'options' | 'io' | 'config' | 'clock'> = (command, context) => {
  command
    .description('Show what this machine sent in the last 90 days, newest first. Texts are not kept.')
    .option('--to <recipient>', 'only sends to this number or address, in bulk jobs too')
    .option('--job <name>', 'only this job')
    .option('--since <time>', 'sent at this time or later: 2h or 7d ago, a date, an ISO time', readTime)
    .option('--until <time>', 'sent before this time', readTime)
    .option('--limit <n>', `how many to show (default ${defaultLimit})`, readLimit)
    .option('--clear', 'delete the history');
  addHelp(command, {
    view,
    effects: ['changes'],
    examples: [
      ['urtuu history --since 2h', 'the sends of two hours'],
      ['urtuu history --since 2026-11-01 --until 2026-12-01', 'those of a month, and what they cost'],
      ['urtuu history --to 99112233 --json', 'everything sent to a number, with ids and keys'],
    ],
    exits: [8],
    json: example,
  });
  command.action(async ({ to: written, job, since, until, limit: chosen, clear }: Options) => {
    const limit = chosen ?? defaultLimit;
    const to = written === undefined ? undefined : wantedRecipient(written);
    const { stateDirectory } = context.config;
    if (clear) {
      await confirmed(context, 'Delete the history of this machine?');
      clearHistory(stateDirectory);
      return context.io.note('Deleted the history.');
    }
    const all = readHistory(stateDirectory, context.clock.now());
    const now = context.clock.now();
    const from = since === undefined ? '' : timeOf(since, now);
    const end = until === undefined ? null : timeOf(until, now);
    const wanted = (to === undefined ? all : await sentTo(context, all, to)).filter(
      (entry) =>
        entry.time >= from && (end === null || entry.time < end) && (job === undefined || entry.job === job),
    );
    const empty = all.length === 0 ? noSends : 'No sends in the history match.';
    const table = tableFor((recipient) => context.io.printer.recipient(recipient));
    await context.io.printAll({ ...view, table, empty }, wanted.slice(0, limit));
    if (to !== undefined) await noteRemovedJobs(context, all, from);
    if (wanted.length > limit) sayMore(context.io, `${grouped(limit)} of ${grouped(wanted.length)}`, chosen);
    if (wanted.length > 1) context.io.note(`Total: ${sumOf(wanted)}.`);
  });
};

function sumOf(entries: readonly HistoryEntry[]): string {
  const sums = new CreditSums();
  for (const { base_url, credits = null } of entries) sums.add({ base_url, credits });
  return sums.text;
}

/** Their recipients were removed with them, so answers about a recipient are incomplete. */
async function noteRemovedJobs(
  { config, io }: Pick<Context, 'config' | 'io'>,
  all: readonly HistoryEntry[],
  from: string,
): Promise<void> {
  const there = await jobIds(config.stateDirectory);
  const isRemoved = ({ job, time }: HistoryEntry) => job !== null && time >= from && !there.includes(job);
  const removed = all.filter(isRemoved).map(({ job }) => job);
  if (removed.length > 0) io.warn(`removed jobs are not searched: ${removed.join(', ')}`);
}

async function sentTo(
  context: Parameters<typeof entriesOfRecipient>[0],
  all: readonly HistoryEntry[],
  to: string,
): Promise<HistoryEntry[]> {
  const singles = all.filter(
    (entry) => entry.to !== null && comparedRecipient(normalizeRecipient(entry.to)) === comparedRecipient(to),
  );
  const found = [...singles, ...(await entriesOfRecipient(context, to))];
  return found.sort(newestFirst);
}
