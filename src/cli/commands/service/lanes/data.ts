import type { Administration, LaneSummary } from '../../../../service/index.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { type Column, field, type View } from '../../../output/view.js';
import { duration } from '../../../text/wording.js';
import { slowColumn } from '../slow-lanes.js';

const first = [
  field<LaneSummary>('lane'),
  field<LaneSummary>('status', { kind: 'status' }),
  field<LaneSummary>('waiting', { kind: 'number' }),
];
const connected = field<LaneSummary>('connected', { kind: 'number' });
const oldest: Column<LaneSummary> = {
  name: 'oldest',
  value: ({ oldest_seconds: seconds }) => (seconds === null ? null : duration(seconds)),
};

export const laneView: View<LaneSummary> = {
  columns: [
    ...first,
    field('oldest_seconds', { kind: 'number' }),
    connected,
    slowColumn,
    field('paused_at', { kind: 'time' }),
  ],
  table: [...first, oldest, connected],
  record: (lane) => lane,
  empty: 'No lanes.',
};

export const laneExample =
  '{"lane": "Mobicom", "status": "open", "waiting": 120, "oldest_seconds": 9, "connected": 2, "slow": [], "paused_at": null}';
export const pausedLaneExample =
  '{"lane": "Mobicom", "status": "paused", "waiting": 120, "oldest_seconds": 9, "connected": 2, "slow": [], "paused_at": "2026-11-21T08:00:00.000Z"}';

/** Throws CliError (exit 12) if there is no such lane. */
export async function setLaneStatus(
  { setLaneStatus: set, listLanes }: Administration,
  lane: string,
  status: LaneSummary['status'],
): Promise<LaneSummary> {
  const changed = await set(lane, status);
  if (changed !== null) return changed;
  const names = (await listLanes()).map((one) => one.lane).join(', ');
  throw new CliError('not_found', exits.missing, `no lane ${lane}`, {
    hint: `The lanes are: ${names}. See: \`urtuu service lanes list\``,
  });
}
