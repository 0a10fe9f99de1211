/** `pid` is null when the process does not answer, for example a paused one. */
export type Lock =
  | {
      held: true;
      release(): Promise<void>;
      /** For a folder that was moved away: another one may be in its place by now. */
      releaseRemoved(): Promise<void>;
    }
  | { held: false; pid: number | null };
export interface LockHolder {
  pid: number | null;
}
