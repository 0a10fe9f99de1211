import type { Administration, LaneSummary } from '../../../../service/index.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { field, type View } from '../../../output/view.js';

export const laneView: View<LaneSummary> = {
  columns: [
    field('lane'),
    field('status', { kind: 'status' }),
    field('waiting', { kind: 'number' }),
    field('oldest_seconds', { kind: 'number' }),
    field('connected', { kind: 'number' }),
    field('paused_at', { kind: 'time', detail: true }),
  ],
  record: (lane) => lane,
  empty: 'No lanes.',
};

export const laneExample =
  '{"lane": "Mobicom", "status": "open", "waiting": 120, "oldest_seconds": 9, "connected": 2, "paused_at": null}';

/** Throws CliError (exit 12) where there is no such lane. */
export async function setLaneStatus(
  { setLaneStatus: set, listLanes }: Administration,
  lane: string,
  status: LaneSummary['status'],
): Promise<LaneSummary> {
  const changed = await set(lane, status);
  if (changed !== null) return changed;
  const names = (await listLanes()).map((one) => one.lane).join(', ');
  throw new CliError('not_found', exits.missing, `no lane ${lane}`, {
    hint: `The lanes are: ${names}. See: urtuu service lanes list`,
  });
}
