import type { MessageClass } from '../../dispatching.js';
import { batchSlice, mostProjects } from '../../shared/turns.js';
import type { Database } from '../database/database.js';
import { isOfList } from './quiet.js';

/** Due messages to be sent next: of a project, and of a batch; of none, its single messages. */
export interface Flow {
  project: number;
  batch: number | null;
  most: number;
}

/** Instead of a batch, for the single messages of lists: they take turns with the batches. */
const ofNone = 0;

/** Whose turn it is, and how many messages of its slice a batch has had. */
interface Turn {
  next: number;
  taken: number;
}

interface First {
  project: number;
  batch: number | null;
  due_at: number;
}

/** Instead of a project, for the turns of the projects. A project's turns are those of its batches. */
const ofProjects = 0;
const last = Number.MAX_SAFE_INTEGER;

/**
 * Projects take turns in a lane and class, and so do their batches. What is due is read from the queue itself; only
 * the place in the round is stored. A missing or old row costs a turn, but no message.
 */
export function prepareTurns(database: Database) {
  const selectTurn = database.prepare(
    'SELECT next, taken FROM turns WHERE lane = ? AND class = ? AND project = ?',
  );
  const upsertTurn = database.prepare(
    `INSERT INTO turns (lane, class, project, next, taken) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET next = excluded.next, taken = excluded.taken`,
  );
  const selectFirst = (condition: string) =>
    database.prepare(
      `SELECT project, batch, due_at FROM messages INDEXED BY messages_turns
       WHERE lane = ? AND ${condition} AND due_at IS NOT NULL AND route IS NULL
       ORDER BY project, batch, due_at LIMIT 1`,
    );
  const singlesAfter = selectFirst(`${isOfList} = 0 AND project > ?`);
  const batchesAfter = selectFirst(`${isOfList} = 1 AND (project, batch) > (?, ?)`);
  const batchesOfAfter = selectFirst(`${isOfList} = 1 AND project = ? AND batch > ?`);
  const ofNoBatch = selectFirst(`${isOfList} = 1 AND project = ? AND batch IS NULL`);

  const turnOf = (lane: string, kind: MessageClass, project: number): Turn =>
    (selectTurn.get(lane, kind, project) as Turn | undefined) ?? { next: 0, taken: 0 };

  /** The next project with due messages. */
  function projectAfter(lane: string, kind: MessageClass, project: number, now: number): number | undefined {
    const firstAfter = (key: number, batch: number) =>
      (kind === 'single' ? singlesAfter.get(lane, key) : batchesAfter.get(lane, key, batch)) as
        | First
        | undefined;
    let first = firstAfter(project, last);
    while (first !== undefined && first.due_at > now)
      first = firstAfter(first.project, first.batch ?? ofNone);
    return first?.project;
  }

  function batchAfter(lane: string, project: number, batch: number, now: number): number | undefined {
    const firstAfter = (key: number) => batchesOfAfter.get(lane, project, key) as First | undefined;
    if (batch < ofNone) {
      const single = ofNoBatch.get(lane, project) as First | undefined;
      if (single !== undefined && single.due_at <= now) return ofNone;
    }
    let first = firstAfter(Math.max(batch, ofNone));
    while (first !== undefined && first.due_at > now) first = firstAfter(first.batch ?? last);
    return first?.batch ?? undefined;
  }

  /**
   * Shares messages out, the same number for each project, and remembers who had one less. If there are too many
   * projects for a claim, some of them get a slice each, and the remainder is not shared out.
   */
  function deal(
    lane: string,
    kind: MessageClass,
    wanted: number,
    dueAfter: (project: number) => number | undefined,
  ): { project: number; share: number }[] {
    const most = Math.min(wanted, mostProjects);
    const projects = around(turnOf(lane, kind, ofProjects).next, most + 1, dueAfter);
    const areAll = projects.length <= most;
    const among = areAll ? projects.length : Math.floor(wanted / Math.ceil(wanted / most));
    const each = Math.floor(wanted / among);
    const more = areAll ? wanted % among : 0;
    // With only one, nothing is stored.
    if (projects.length > 1)
      upsertTurn.run(lane, kind, ofProjects, projects[more || among] ?? (projects[0] as number), 0);
    return projects
      .slice(0, among)
      .map((project, place) => ({ project, share: each + (place < more ? 1 : 0) }));
  }

  /** A slice of each batch in turn. */
  function takeOfBatches(
    lane: string,
    project: number,
    most: number,
    now: number,
    take: (flow: Flow) => number,
  ): number {
    const due = (from: number, count: number) =>
      around(from, count, (batch) => batchAfter(lane, project, batch, now));
    let { next, taken } = turnOf(lane, 'batch', project);
    const takeOf = (batch: number, most: number) =>
      take({ project, batch: batch === ofNone ? null : batch, most });
    const [first, second] = due(next, 2);
    if (second === undefined) return first === undefined ? 0 : takeOf(first, most);
    let left = most;
    for (let batch: number | undefined = first; batch !== undefined && left > 0; [batch] = due(next, 1)) {
      if (batch !== next) taken = 0;
      const got = takeOf(batch, Math.min(left, batchSlice - taken));
      left -= got;
      taken += got;
      next = batch;
      if (taken === batchSlice) [next, taken] = [batch + 1, 0];
    }
    upsertTurn.run(lane, 'batch', project, next, taken);
    return most - left;
  }

  /**
   * Calls `take`, which returns how many it took, in the order of sending until `limit` messages were taken or none is
   * due. `limits`: the most for each project.
   */
  function takeTurns(
    { lane, class: kind, limit }: { lane: string; class: MessageClass; limit: number },
    limits: ReadonlyMap<number, number>,
    now: number,
    take: (flow: Flow) => number,
  ): void {
    const left = new Map(limits);
    const dueAfter = (after: number): number | undefined => {
      let project = projectAfter(lane, kind, after, now);
      while (project !== undefined && left.get(project) === 0)
        project = projectAfter(lane, kind, project, now);
      return project;
    };
    for (let wanted = limit; wanted > 0; ) {
      const dealt = deal(lane, kind, wanted, dueAfter);
      if (dealt.length === 0) return;
      wanted = dealt.reduce((sum, { share }) => sum + share, 0);
      for (const { project, share } of dealt) {
        const most = Math.min(share, left.get(project) ?? share);
        if (most === 0) continue;
        const taken =
          kind === 'single'
            ? take({ project, batch: null, most })
            : takeOfBatches(lane, project, most, now, take);
        wanted -= taken;
        if (left.has(project)) left.set(project, (left.get(project) as number) - taken);
      }
    }
  }

  /** Whether a project other than these has something due. */
  function isAnyDue(
    { lane, class: kind }: { lane: string; class: MessageClass },
    without: ReadonlySet<number>,
    now: number,
  ): boolean {
    let project = projectAfter(lane, kind, ofProjects, now);
    while (project !== undefined && without.has(project)) project = projectAfter(lane, kind, project, now);
    return project !== undefined;
  }

  return { takeTurns, isAnyDue };
}

/** From one key onwards and around to it, up to a maximum. */
function around(from: number, most: number, nextAfter: (key: number) => number | undefined): number[] {
  const found: number[] = [];
  let key = nextAfter(from - 1);
  for (; key !== undefined && found.length < most; key = nextAfter(key)) found.push(key);
  key = nextAfter(-1);
  for (; key !== undefined && key < from && found.length < most; key = nextAfter(key)) found.push(key);
  return found;
}
