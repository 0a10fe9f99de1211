import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { canonicalBaseUrl } from '../../../contract/index.js';
import type { Context } from '../../context.js';
import { CliError, machineError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { lockFolder } from '../../platform/lock.js';
import { makeFolder } from '../../platform/make-folder.js';
import { syncFolder } from '../../platform/sync-folder.js';
import { writePrivateFile } from '../../platform/write-private-file.js';
import { fingerprint } from '../../text/fingerprint.js';

/** Where a listener is in the feed of its project, as its file has it. */
interface Place {
  version: 1;
  /** The fingerprint of its API key: keys of two projects share no place. */
  key: string;
  /** Null once the service does not know it any more. */
  cursor: string | null;
  /** When the last event happened that was passed; before the first, since when it listens. */
  at: string | null;
  /** The event that is not taken. */
  refused: string | null;
}

interface Found {
  folder: string;
  /** Null in a new folder. */
  place: Place | null;
}

export const defaultName = 'default';

/** The listeners of this name and service: the one of this key, which may be new, and all that have a place. */
export async function listenersNamed(
  { config, network }: Pick<Context, 'config' | 'network'>,
  name: string,
): Promise<{ key: string; own: Found; all: Found[] }> {
  if (!/^[\w-]{1,40}$/.test(name))
    throw usageError(`'${name}' is not a name`, 'Use up to 40 letters, digits, - and _.');
  const service = config.sandbox ? 'sandbox' : canonicalBaseUrl((await config.settings()).baseUrl);
  const key = fingerprint(`${service} ${(await network.apiKey()) ?? ''}`);
  const root = join(config.stateDirectory, 'events');
  // Disks that ignore case must tell names apart, too.
  const prefix = `${name}.${fingerprint(`${name} ${service}`)}.`;
  const all = (existing(() => readdirSync(root), root) ?? [])
    .filter((each) => each.startsWith(prefix))
    .map((each) => foundIn(join(root, each)))
    .filter(({ place }) => place !== null);
  const own = all.find(({ place }) => place?.key === key) ?? {
    folder: join(root, prefix + key),
    place: null,
  };
  return { key, own, all };
}

/** The id of the last event to leave out; no id is used twice. */
export const skipFileOf = (folder: string): string => join(folder, 'skip');

/** A listener, under its lock. */
export interface Listener {
  readonly name: string;
  readonly folder: string;
  /** Null before the first call. */
  readonly place: Place | null;
  /** Everything up to the cursor was taken. `at`: when the last event of it happened. */
  moveTo(cursor: string, at?: string | null): Promise<void>;
  /** The event after the cursor is not taken, and tried again. */
  waitAt(id: string): Promise<void>;
  /** The service does not know the cursor any more. */
  lose(): Promise<void>;
  /** Whether `events skip` left the event out. */
  skips(id: string): boolean;
  close(): Promise<void>;
}

/**
 * Takes the listener of this name for this process. A renewed key goes on where the one before it was, if it `knows`
 * its cursor: only a key of the same project does. Throws CliError (exit 11) if another process has it, or if none of
 * the places is this key's and nobody says where to begin.
 */
export async function openListener(
  { io, ...context }: Pick<Context, 'config' | 'network' | 'io'>,
  name: string,
  isToBegin: boolean,
  knows: (cursor: string) => Promise<boolean>,
): Promise<Listener> {
  const { key, own, all } = await listenersNamed(context, name);
  let { folder } = own;
  if (own.place === null) {
    for (const other of all)
      if (other.place?.cursor?.includes('-') && (await knows(other.place.cursor))) folder = other.folder;
    if (all.length > 0 && folder === own.folder) {
      if (!isToBegin) throw unknownKey(name, all);
      io.warn(
        `This key is new to ${name}: it belongs to another project, or the events to continue from are gone.`,
      );
    }
  }
  makeFolder(folder);
  const lock = await lockFolder(folder).catch((error) => {
    throw machineError(`cannot lock ${folder}`, error);
  });
  if (!lock.held) {
    const pid = lock.pid === null ? '' : ` (pid ${lock.pid})`;
    throw new CliError('listener_locked', exits.refused, `the listener ${name} is already running${pid}`, {
      hint: 'Stop it, or give this one another --name.',
    });
  }
  // Only from now on does nobody else change it.
  let { place } = foundIn(folder);
  const save = async (changed: Partial<Place>) => {
    const isNew = place === null;
    place = { cursor: null, at: null, refused: null, ...place, version: 1, key, ...changed };
    await writePrivateFile(fileOf(folder), `${JSON.stringify(place)}\n`);
    // An older place only repeats events; after none at all, a listener would begin from now.
    if (isNew) for (const each of [folder, dirname(folder)]) await syncFolder(each);
  };
  return {
    name,
    folder,
    get place() {
      return place;
    },
    moveTo: (cursor, at = place?.at ?? null) => save({ cursor, at, refused: null }),
    waitAt: (id) => save({ refused: id }),
    lose: () => save({ cursor: null, refused: null }),
    skips: (id) => textOf(skipFileOf(folder)) === id,
    close: () => lock.release(),
  };
}

/** Whose key was renewed is unknown, so the first that stopped says since when. */
function unknownKey(name: string, all: readonly Found[]): CliError {
  const [since = null] = all.flatMap(({ place }) => place?.at ?? []).sort();
  const option = since === null ? '' : ` --since ${since}`;
  return new CliError('cursor_expired', exits.refused, `this key is new to the listener ${name}`, {
    hint: `If it belongs to another project, begin with --from now. After a restore or reset, begin with --from start, then look up what ${name} missed: \`urtuu messages list${option}\``,
    details: { since },
  });
}

const fileOf = (folder: string) => join(folder, 'cursor.json');

/** Throws CliError (exit 13) for a damaged file, which must not pass for none. */
function foundIn(folder: string): Found {
  const file = fileOf(folder);
  const text = textOf(file);
  if (text === null) return { folder, place: null };
  try {
    const place = JSON.parse(text) as Place;
    if (place.version === 1 && typeof place.key === 'string') return { folder, place };
  } catch {}
  throw new CliError('listener_damaged', exits.machine, `${file} is damaged, or of a later version`, {
    hint: 'Move it away, then start over with --from start.',
  });
}

const textOf = (file: string) => existing(() => readFileSync(file, 'utf8'), file);

/** What is read, or null if it does not exist. */
function existing<Value>(read: () => Value, path: string): Value | null {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw machineError(`cannot read ${path}`, error);
  }
}
