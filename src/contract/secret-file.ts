/** The owner and the mode of a file, as stat returns them. */
export interface FileOwner {
  readonly uid: number;
  readonly mode: number;
}

/** What others than the owner of a file may do with it. */
export function exposureToOthers({ mode }: Pick<FileOwner, 'mode'>): 'writable' | 'readable' | null {
  if ((mode & 0o022) !== 0) return 'writable';
  return (mode & 0o044) !== 0 ? 'readable' : null;
}

/** The files of this machine; `node:fs` is one. */
export interface Disk {
  constants: { O_RDONLY: number; O_NONBLOCK?: number };
  statSync(path: string): DiskStats;
  realpathSync(path: string): string;
  openSync(path: string, flags: number): number;
  fstatSync(file: number): DiskStats;
  readSync(file: number, bytes: Uint8Array): number;
  closeSync(file: number): void;
}

interface DiskStats extends FileOwner {
  gid: number;
  isFile(): boolean;
  isFIFO(): boolean;
  isDirectory(): boolean;
}

/** A file or folder that others can use. */
export interface Exposure {
  /** Otherwise a warning: a secret of a mount may be readable by all, and its user unable to change that. */
  isRefused: boolean;
  problem: string;
  hint: string;
}

/** A file that others can change. */
export class UnsafeFileError extends Error {
  override readonly name = 'UnsafeFileError';
  readonly hint: string;
  constructor({ problem, hint }: Exposure) {
    super(problem);
    this.hint = hint;
  }
}

export interface TrustedFile {
  bytes: Uint8Array;
  /** Others can use it; null if not. */
  warning: string | null;
  isPipe: boolean;
}

/** Others may read all but a secret. */
export type FileKind = 'secret' | 'public' | 'configuration';

const mostBytes = 1_000_000;

/**
 * What the service runs on. Throws UnsafeFileError if others can change it or the folders above it, and an error of the
 * system. `user`: the uid of this process; undefined where files have no modes. Only a configuration may be a pipe, which
 * is waited for.
 */
export function readTrustedFile(
  path: string,
  kind: FileKind,
  disk: Disk,
  user: number | undefined,
): TrustedFile {
  const isPipe = kind === 'configuration' && disk.statSync(path).isFIFO();
  // Opening another pipe would wait for a writer. Windows has no O_NONBLOCK.
  const flags = disk.constants.O_RDONLY | (isPipe ? 0 : (disk.constants.O_NONBLOCK ?? 0));
  const file = disk.openSync(path, flags);
  try {
    const stats = disk.fstatSync(file);
    if (!stats.isFile() && !stats.isDirectory() && !(isPipe && stats.isFIFO()))
      throw new Error('it is not a regular file');
    const exposures = [exposureOf(path, kind, stats, user)];
    if (!isPipe && user !== undefined) exposures.push(...exposedFolders(path, stats, disk, user));
    const found = exposures.filter((each) => each !== null);
    const refused = found.find(({ isRefused }) => isRefused);
    if (refused !== undefined) throw new UnsafeFileError(refused);
    const [first] = found;
    const warning = first === undefined ? null : `${first.problem}. ${first.hint}`;
    return { bytes: readWhole(file, disk), warning, isPipe };
  } finally {
    disk.closeSync(file);
  }
}

function readWhole(file: number, disk: Disk): Uint8Array {
  const bytes = new Uint8Array(mostBytes + 1);
  let length = 0;
  for (let read = 1; read > 0 && length <= mostBytes; length += read)
    read = disk.readSync(file, bytes.subarray(length));
  if (length > mostBytes) throw new Error(`it has over ${mostBytes} bytes`);
  return bytes.slice(0, length);
}

/** Of the folders above a file, and above the one that a link to it leads to. */
function exposedFolders(path: string, file: DiskStats, disk: Disk, user: number): (Exposure | null)[] {
  const folders = new Map<string, boolean>();
  for (const start of [disk.realpathSync(path), `${disk.realpathSync(folderOf(path))}/`])
    for (let at = folderOf(start), isOwn = true; ; at = folderOf(at), isOwn = false) {
      folders.set(at, isOwn || folders.get(at) === true);
      if (at === folderOf(at)) break;
    }
  return [...folders].map(([folder, isOwn]) => {
    const stats = disk.statSync(folder);
    // Root gives folders such as /usr/local to a group.
    const mode = isOwn ? stats.mode : stats.mode & ~0o020;
    // There everybody may add files, and change their own.
    const isShared = (mode & 0o1000) !== 0;
    if (isShared && isOwn && isOthers(file, user) && (mode & 0o022) !== 0)
      return refusal(path, 'may be planted by', 'chown root');
    return isShared ? null : exposureOf(folder, 'public', { ...stats, mode }, user);
  });
}

const folderOf = (path: string) => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) || '/' : '.');

const isOthers = ({ uid }: FileOwner, user: number) => uid !== user && uid !== 0;

const refusal = (path: string, problem: string, command: string): Exposure => ({
  isRefused: true,
  problem: `${path} ${problem} others on this machine`,
  hint: `Check it for changes, then run: ${command} ${quoted(path)}`,
});

const quoted = (path: string) => (/^[\w./:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** Whether others can use a file or a folder; null if not. */
export function exposureOf(
  path: string,
  kind: FileKind,
  file: FileOwner & { gid?: number },
  user: number | undefined,
): Exposure | null {
  if (user === undefined) return null;
  const isSecret = kind === 'secret';
  // The group of one user: of many systems the default, with files that it can change.
  const isOwnGroup = !isSecret && file.gid === file.uid && file.uid !== 0;
  const exposure = exposureToOthers(isOwnGroup ? { mode: file.mode & ~0o020 } : file);
  const isOurs = file.uid === user;
  const chmod = isSecret ? (isOurs ? 'chmod 600' : 'chmod g-w,o=') : 'chmod go-w';
  if (exposure === 'writable') return refusal(path, 'can be changed by', chmod);
  if (isOthers(file, user))
    return {
      isRefused: false,
      problem: `${path} belongs to another user (${file.uid}), who can change it`,
      hint: `Run as that user, or as root: chown root ${quoted(path)}`,
    };
  // A file of root that is read by its group has no other way.
  if (!isSecret || exposure === null || (!isOurs && (file.mode & 0o004) === 0)) return null;
  return {
    isRefused: false,
    problem: `${path} can be read by others on this machine`,
    hint: `Run: ${chmod} ${quoted(path)}`,
  };
}
