import type { Administration, LaneStatus, ServiceStatus } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { field, type View } from '../../output/view.js';
import { duration, grouped } from '../../text/wording.js';
import type { Clock } from '../../time/clock.js';
import { slowColumn, warnOfSlow } from './slow-lanes.js';
import { addStoreOptions, holdWarning, noteStore, ownedStore, type StoreOptions } from './store.js';

type Row = LaneStatus & Pick<ServiceStatus, 'held' | 'quiet'>;

const lane = field<Row>('lane');
const waiting = field<Row>('waiting', { kind: 'number' });
const view: View<Row> = {
  columns: [
    lane,
    waiting,
    field('oldest_seconds', { kind: 'number' }),
    field('submitting', { kind: 'number' }),
    field('in_doubt', { kind: 'number' }),
    field('sent', { kind: 'number' }),
    field('unknown', { kind: 'number' }),
    field('failed', { kind: 'number' }),
    { name: 'failures', value: ({ failures }) => countsOf(failures) || null },
    { name: 'unread', value: ({ unread }) => countsOf(unread) || null },
    { name: 'instances', value: ({ instances }) => connectedOf(instances) },
    slowColumn,
    field('paused_at', { kind: 'time' }),
    field('held'),
    { name: 'quiet', value: ({ quiet }) => quiet.map(quietText).join(', ') || null },
  ],
  table: [
    lane,
    waiting,
    {
      name: 'oldest',
      value: ({ oldest_seconds: seconds }) => (seconds === null ? null : duration(seconds)),
    },
    field('submitting', { kind: 'number' }),
    field('in_doubt', { kind: 'number' }),
    { name: 'sent/min', kind: 'number', value: ({ sent }) => sent },
    // Mostly 0, so it is the first column dropped if not all fit.
    { name: 'unknown/min', kind: 'number', value: ({ unknown }) => unknown || null },
    { name: 'failed/min', kind: 'number', value: ({ failed }) => failed },
    { name: 'connected', value: tableConnection },
  ],
  record: (row) => row,
};

interface Options extends StoreOptions {
  watch?: boolean;
}

/** In milliseconds; as frequent as the heartbeats. */
const lookEvery = 5_000;

export const serviceStatus: CommandBody<'io' | 'network' | 'config' | 'clock'> = (command, context) => {
  command
    .description('Show the queue and the connections of a service by lane: an operator, or email.')
    .option('--watch', 'repeat every 5 s until Ctrl-C');
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['reads'],
    notes: [
      'sent and failed count the last minute, over all instances; unknown counts sent',
      'messages that may not have arrived. connected counts running instances with a',
      'connection. waiting counts up to 1,000,000 messages.',
      'Warns of lanes that are paused or slow, and of receipts and replies that changed',
      'nothing. Since the instances started, their body, fields or state could not be',
      'read; in the last 24 hours, they matched no message (unjoined).',
    ],
    examples: [
      ['urtuu service status', 'the service of urtuu serve'],
      ['urtuu service status --watch -o ndjson', 'a line for each lane every 5 s'],
    ],
    exits: [12],
    json: '[{"lane": "Mobicom", "waiting": 1200, "oldest_seconds": 9, "submitting": 20, "in_doubt": 0, "sent": 5980, "unknown": 0, "failed": 2, "failures": {"provider_failed": 2}, "unread": {"state": 1}, "slow": [{"project": null, "project_name": null, "state": "throttled", "since": "2026-11-21T07:59:58.000Z", "seconds": 12, "code": "0x58", "words": ""}], "paused_at": null, "instances": [{"id": "mZ3k...", "version": "1.0.0", "address": "http://10.0.0.5:7788", "state": "bound", "since": "2026-11-20T22:10:00.000Z", "seen_at": "2026-11-21T08:00:09.000Z"}], "held": null, "quiet": []}]',
  });
  command.action(async ({ watch = false, ...options }: Options) => {
    const { io, clock } = context;
    if (watch && io.printer.format === 'json')
      throw usageError('--watch never ends, so it cannot print a JSON array', 'Use --output ndjson.');
    const store = await ownedStore(context, options);
    noteStore(io, store);
    const { administration } = store;
    const rows = async () => rowsOf(await administration.status(), context);
    if (!watch) return io.printAll(view, await rows());
    io.endless();
    await io.printer.batches(view, repeated(rows, clock));
  });
};

async function* repeated(rows: () => Promise<Row[]>, clock: Clock): AsyncGenerator<Row[], void> {
  for (;;) {
    yield await rows();
    await clock.sleep(lookEvery);
  }
}

function rowsOf(
  { held, quiet, lanes }: Awaited<ReturnType<Administration['status']>>,
  { io, config }: Pick<Context, 'io' | 'config'>,
): Row[] {
  if (held !== null) io.warn(holdWarning(held));
  for (const one of quiet) io.note(`${quietText(one)}; its batches and bulk emails wait.`);
  for (const { lane, paused_at } of lanes) {
    if (paused_at === null) continue;
    io.warn(
      `The lane ${lane} is paused. Resume it with:`,
      config.commandLine(['service', 'lanes', 'resume', lane]),
    );
  }
  for (const { lane, unread } of lanes) {
    const counts = countsOf(unread);
    if (counts !== '') io.warn(`Receipts and replies of ${lane} that changed nothing: ${counts}.`);
  }
  warnOfSlow(lanes, io);
  return lanes.map((lane) => ({ ...lane, held, quiet }));
}

function quietText({ project_name: name, until_clock: clock, zone }: ServiceStatus['quiet'][number]): string {
  return `${name} is quiet until ${clock} (${zone})`;
}

function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([code, count]) => `${code} ${grouped(count)}`)
    .join(', ');
}

function connectedOf(instances: LaneStatus['instances']): string {
  if (instances.length === 0) return 'no instance';
  if (instances.every(({ state }) => state === 'simulated')) return 'simulated';
  const bound = instances.filter(({ state }) => state !== 'down').length;
  return `${bound} of ${instances.length}`;
}

/** A paused lane stays connected, so both are shown. */
function tableConnection({ instances, paused_at }: Row): string {
  const connected = connectedOf(instances);
  return paused_at === null ? connected : `${connected}, paused`;
}
