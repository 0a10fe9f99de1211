import type { Clock } from '../../../clock.js';
import { type ClaimedMessage, isListMessage, type Mark } from '../../dispatching.js';
import { isQuietAt, withQuietHours } from '../../shared/quiet.js';
import type { Database } from '../database/database.js';
import type { Projects } from '../projects.js';

/** SQL, as in the indexes of the queue: whether a message is one of a list, which lets others go first and waits at night. */
export const isOfList = '(batch IS NOT NULL OR is_bulk)';

/** Projects that are quiet now, by the settings that are stored. The functions read inside their caller's transaction. */
export function prepareQuiet(database: Database, projects: Projects, clock: Clock) {
  const select = database.prepare(
    `SELECT seq, settings FROM projects INDEXED BY projects_quiet WHERE instr(settings, '${withQuietHours}')`,
  );

  function now(): Set<number> {
    const at = clock.now();
    const rows = select.all() as { seq: number; settings: string }[];
    return new Set(rows.filter(({ settings }) => isQuietAt(settings, at)).map(({ seq }) => seq));
  }

  function holds(quiet: ReadonlySet<number>, claimed: ClaimedMessage): boolean {
    return isListMessage(claimed) && quiet.has(projects.numberOf(claimed.message.projectId));
  }

  return {
    now,
    /** Whether it may not be sent now. */
    isHeld: (claimed: ClaimedMessage): boolean => holds(now(), claimed),
    /** The marks that may be made now. */
    without(marks: readonly Mark[]): readonly Mark[] {
      const quiet = now();
      return quiet.size === 0 ? marks : marks.filter(({ claimed }) => !holds(quiet, claimed));
    },
  };
}

export type Quiet = ReturnType<typeof prepareQuiet>;
