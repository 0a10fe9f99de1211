/** The data of a service cannot be used as it lies there. Nothing was changed. */
export class DataError extends Error {
  override readonly name = 'DataError';
  readonly code = 'data_refused';
  /** The way out. */
  readonly hint: string;
  /** What `acceptData` would forget; null where it would not help. */
  readonly forgotten: string | null;

  constructor(message: string, extra: { hint: string; forgotten?: string; cause?: unknown }) {
    super(message, extra.cause === undefined ? {} : { cause: extra.cause });
    this.hint = extra.hint;
    this.forgotten = extra.forgotten ?? null;
  }
}
