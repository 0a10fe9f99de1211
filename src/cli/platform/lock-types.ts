/** `pid` is null where the process does not say who it is, as one that is paused. */
export type Lock =
  | {
      held: true;
      release(): Promise<void>;
      /** Instead of `release`, where the folder was moved away: another one may have its place by now. */
      releaseRemoved(): Promise<void>;
    }
  | { held: false; pid: number | null };
export interface LockHolder {
  pid: number | null;
}
