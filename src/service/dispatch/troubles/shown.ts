import type { LaneTrouble } from '../../storage/instances.js';
import type { Episode } from './episode.js';
import type { Sender, Trouble } from './sender.js';

/** The most troubled projects that are shown. */
const mostShown = 20;

/** What is shown of a lane: its episode, its throttling and its troubled projects, at a time on the monotonic clock. */
export function shownOf(
  episode: Episode | null,
  ofLane: Trouble | null,
  troubled: Iterable<Sender>,
  now: number,
): LaneTrouble[] {
  const one = (project: string | null, state: LaneTrouble['state'], trouble: Trouble | null) =>
    trouble === null ? [] : [{ project, state, forMs: Math.floor(now - trouble.since), ...trouble.answer }];
  const ofProjects = [...troubled].flatMap(({ project, suspected, throttled }) => [
    ...one(project, 'suspected', suspected),
    ...one(project, 'throttled', throttled),
  ]);
  const paused = episode === null ? [] : one(null, episode.state, episode);
  return [...paused, ...one(null, 'throttled', ofLane), ...ofProjects.slice(0, mostShown)];
}
