/** `pid` is null if the process does not answer, for example because it is paused. */
export type Lock =
  | {
      held: true;
      release(): Promise<void>;
      /** For a folder that was moved away: another one may be in its place. */
      releaseRemoved(): Promise<void>;
    }
  | { held: false; pid: number | null };
export interface LockHolder {
  pid: number | null;
}
