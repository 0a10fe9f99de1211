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

export interface ExposedSecret {
  /** Otherwise a warning: a secret of a mount may be readable by all, and its user unable to change that. */
  isRefused: boolean;
  problem: string;
  hint: string;
}

/**
 * Whether others can use a file with a secret; null if not. `user`: the uid of this process; undefined where files have
 * no modes. A file of another user that is read by its group has no other way.
 */
export function exposedSecret(path: string, file: FileOwner, user: number | undefined): ExposedSecret | null {
  if (user === undefined) return null;
  const exposure = exposureToOthers(file);
  const isOurs = file.uid === user;
  if (exposure === null || (exposure === 'readable' && !isOurs && (file.mode & 0o004) === 0)) return null;
  const quoted = /^[\w./:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  const chmod = `chmod ${isOurs ? '600' : 'g-w,o='} ${quoted}`;
  return exposure === 'writable'
    ? {
        isRefused: true,
        problem: `${path} can be changed by others on this machine`,
        hint: `Check it for changes, then run: ${chmod}`,
      }
    : { isRefused: false, problem: `${path} can be read by others on this machine`, hint: `Run: ${chmod}` };
}
