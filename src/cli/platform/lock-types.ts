/** `pid` is null if the process does not answer, for example because it is paused. */
export type Lock = HeldLock | { held: false; pid: number | null };

export interface HeldLock {
  held: true;
  /** Whether other processes have it, too, because the disk has no locks. */
  isUnguarded?: boolean;
  release(): Promise<void>;
  /** For a folder that was moved away: another one may be in its place. */
  releaseRemoved(): Promise<void>;
}
export interface LockHolder {
  pid: number | null;
}
