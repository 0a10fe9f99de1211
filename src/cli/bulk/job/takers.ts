import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Channel, isSameBaseUrl } from '../../../contract/index.js';
import { lockHolder } from '../../platform/lock.js';
import { readChecksummedText } from '../plan/files/checksummed-text.js';
import { readOrigins } from '../plan/files/origins-file.js';
import { PlanDamaged, planOf, readPlanMeta, readPlanRecord } from '../plan/files/plan-reader.js';
import type { FrozenPlan, PlanMeta, Source } from '../plan/plan.js';
import { isOfDelivery } from '../plan/reported-rows.js';
import type { JobState } from './job-state.js';
import { folderOf, jobIds } from './jobs-folder.js';
import { readJournal } from './journal/journal-reader.js';
import type { RowPlace } from './request-facts.js';

/** The rows that a job takes from another one. */
export interface TakenRows {
  /** By their lines there, what its report called them. */
  statuses: Map<number, string>;
  /** Failed rows in a record of earlier releases: their requests there, and their indexes in these. */
  places: [request: number, indexes: number[]][];
}

/** The rows that a job takes, by the job that they come from. Throws PlanDamaged. */
export async function rowsTakenBy(folder: string): Promise<Map<string, TakenRows>> {
  const taken = new Map<string, TakenRows>();
  const rowsOf = (job: string) => {
    const rows: TakenRows = taken.get(job) ?? { statuses: new Map(), places: [] };
    taken.set(job, rows);
    return rows;
  };
  for (const [job, status, lines] of await readOrigins(folder)) {
    const { statuses } = rowsOf(job);
    for (const line of lines) statuses.set(line, status);
  }
  for (const [job, places] of await earlierRecord(folder)) rowsOf(job).places.push(...places);
  return taken;
}

const earlierFile = 'taken';

/** The release at e5bfb29c kept the rows in a file until it had moved them in the journals of their jobs. */
async function earlierRecord(folder: string): Promise<[job: string, places: TakenRows['places']][]> {
  if (!existsSync(join(folder, earlierFile))) return [];
  const { kind, version, text } = readChecksummedText(await readFile(join(folder, earlierFile)));
  if (kind !== 'urtuu-taken' || version !== '1' || text === null)
    throw new PlanDamaged(folder, `${earlierFile} is damaged`);
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

export interface Taker {
  id: string;
  folder: string;
  meta: PlanMeta;
  /** The jobs that its rows come from. */
  sources: readonly Source[];
}

/** The jobs that a job with this plan has rows from. Throws PlanDamaged. */
export const sourcesOf = async (folder: string, meta: PlanMeta): Promise<readonly Source[]> =>
  meta.sources ?? (await earlierRecord(folder)).map(([job]) => ({ job, digest: '' }));

/** The plan of a job; null if it is not on this machine. An id from a file is used in a path only if it is. */
export async function metaOf(stateDirectory: string, id: string): Promise<PlanMeta | null> {
  const isHere = (await jobIds(stateDirectory)).includes(id);
  return isHere ? readPlanMeta(folderOf(stateDirectory, id)).catch(() => null) : null;
}

export const digestOf = async (stateDirectory: string, id: string): Promise<string | null> =>
  (await metaOf(stateDirectory, id))?.digest ?? null;

/** Whether a job is this source. */
export const isSource = ({ job, digest }: Source, id: string, ofJob: string | null): boolean =>
  job === id && ofJob !== null && (digest === ofJob || digest === '');

/** Whether two may be the same job: of one that was not here, only the name is known. */
const mayBeSame = (one: Source, other: Source): boolean =>
  one.job === other.job && (one.digest === other.digest || !one.digest || !other.digest);

/** The jobs of this machine that took rows of others, or are about to. */
export class Takers {
  readonly #stateDirectory: string;
  all: Taker[] = [];
  /** The first job that cannot be read: it may be one of them. */
  unread: { id: string; error: Error } | null = null;

  private constructor(stateDirectory: string) {
    this.#stateDirectory = stateDirectory;
  }

  static async in(stateDirectory: string): Promise<Takers> {
    const takers = new Takers(stateDirectory);
    for (const id of await jobIds(stateDirectory)) {
      const folder = folderOf(stateDirectory, id);
      try {
        const meta = await readPlanMeta(folder);
        const sources = await sourcesOf(folder, meta);
        if (sources.length > 0) takers.all.push({ id, folder, meta, sources });
      } catch (error) {
        takers.leaveUnread({ id, folder }, error as Error);
      }
    }
    return takers;
  }

  /** Unless it was removed meanwhile. */
  leaveUnread({ id, folder }: Pick<Taker, 'id' | 'folder'>, error: Error): void {
    if (existsSync(folder)) this.unread ??= { id, error };
  }

  /** Leaves out and returns the ids of those that took nothing: killed before the rows were their own. */
  async leaveOutKilled(): Promise<Set<string>> {
    const killed = new Set<string>();
    for (const { id, folder } of this.all)
      try {
        if (!(await isConfirmed({ folder })) && (await lockHolder(folder)) === null) killed.add(id);
      } catch (error) {
        this.leaveUnread({ id, folder }, error as Error);
      }
    this.all = this.all.filter(({ id }) => !killed.has(id));
    return killed;
  }

  /** Those with rows of a job. */
  of(job: string, digest: string): readonly Taker[] {
    return this.all.filter(
      ({ id, sources }) => id !== job && sources.some((source) => isSource(source, job, digest)),
    );
  }

  /** Those that may have rows of a source. */
  ofSource(source: Source): readonly Taker[] {
    return this.all.filter(
      ({ id, sources }) => id !== source.job && sources.some((each) => mayBeSame(each, source)),
    );
  }

  /** The jobs of this machine that these have rows from, or that have rows from them, in any number of steps. */
  async relativesOf(
    sources: readonly Source[],
    service: Pick<PlanMeta, 'channel' | 'baseUrl'>,
  ): Promise<Set<string>> {
    const links = this.all.map(({ id, meta, sources: from }) => [{ job: id, digest: meta.digest }, ...from]);
    links.push(...(await earlierLinks(this.#stateDirectory, service)));
    const related = [...sources];
    for (const one of related)
      for (const link of links.filter((each) => each.some((other) => mayBeSame(one, other))))
        related.push(...link.filter((each) => !related.some((known) => isDeepStrictEqual(known, each))));
    const here = new Set<string>();
    for (const one of related) {
      const digest = await digestOf(this.#stateDirectory, one.job);
      if (digest !== null && mayBeSame(one, { job: one.job, digest })) here.add(one.job);
    }
    return here;
  }
}

/** The moved rows in journals of the release at e5bfb29c. */
async function earlierLinks(
  stateDirectory: string,
  { channel, baseUrl }: { channel: Channel; baseUrl: string },
): Promise<Source[][]> {
  const links: Source[][] = [];
  for (const id of await jobIds(stateDirectory)) {
    const folder = folderOf(stateDirectory, id);
    const meta = await readPlanMeta(folder).catch(() => null);
    if (meta?.channel !== channel || !isSameBaseUrl(meta.baseUrl, baseUrl)) continue;
    const movedTo = new Set<string>();
    await readJournal(folder, {}, (entry) => {
      if (entry.type === 'moved' && entry.job !== null) movedTo.add(entry.job);
    });
    for (const job of movedTo)
      links.push([
        { job: id, digest: meta.digest },
        { job, digest: '' },
      ]);
  }
  return links;
}

/** The start of a journal, which has the entry if any part of it does. */
const journalStart = 65_535;

/** Whether the rows of a taker are its own: it says so before its first request. */
export async function isConfirmed({ folder }: Pick<Taker, 'folder'>): Promise<boolean> {
  let confirmed = false;
  await readJournal(folder, { end: journalStart }, ({ type }) => {
    confirmed ||= type === 'confirmed';
  });
  return confirmed;
}

/** Where the taken rows are in the plan of their job, and whose they are: an index of `takings`. */
export async function* placesOf(
  plan: FrozenPlan,
  takings: readonly TakenRows[],
): AsyncGenerator<RowPlace & { by: number; status: string; line: number | null }, void> {
  for (const [by, { places }] of takings.entries())
    for (const [request, indexes] of places)
      for (const index of indexes) yield { by, request, index, status: 'failed', line: null };
  if (takings.every(({ statuses }) => statuses.size === 0)) return;
  for await (const { line, place } of plan.rows())
    for (const [by, { statuses }] of takings.entries()) {
      const status = statuses.get(line);
      if (status !== undefined && place !== null) yield { ...place, by, status, line };
    }
}

/** Moves the rows that other jobs took from a job whose journal has been read; those of unread jobs stay. */
export async function moveTaken(
  { id, folder, meta, state }: Omit<Taker, 'sources'> & { state: JobState },
  takers: Takers,
): Promise<void> {
  const ids: string[] = [];
  const takings: TakenRows[] = [];
  for (const taker of takers.of(id, meta.digest))
    try {
      const rows = (await isConfirmed(taker)) ? (await rowsTakenBy(taker.folder)).get(id) : undefined;
      if (rows === undefined) continue;
      ids.push(taker.id);
      takings.push(rows);
    } catch (error) {
      takers.leaveUnread(taker, error as Error);
    }
  if (takings.length === 0) return;
  const moved = takings.map(() => new Map<number, Set<number>>());
  const plan = planOf(folder, await readPlanRecord(folder));
  for await (const { by, status, line: _, ...place } of placesOf(plan, takings)) {
    if (isOfDelivery(status) || state.standingOf(place, status) !== 'unsent') continue;
    const indexes = moved[by]?.get(place.request) ?? new Set();
    moved[by]?.set(place.request, indexes.add(place.index));
  }
  for (const [by, requests] of moved.entries())
    for (const [request, indexes] of requests) state.moveAway(request, [...indexes], ids[by] ?? '');
}
