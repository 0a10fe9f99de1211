/** The service refuses its data as it is. Nothing was changed. */
export class DataError extends Error {
  override readonly name = 'DataError';
  readonly code = 'data_refused';
  /** A way to fix it. */
  readonly hint: string;
  /** The data that `acceptData` would lose; null if it would not help. */
  readonly forgotten: string | null;

  constructor(message: string, extra: { hint: string; forgotten?: string; cause?: unknown }) {
    super(message, extra.cause === undefined ? {} : { cause: extra.cause });
    this.hint = extra.hint;
    this.forgotten = extra.forgotten ?? null;
  }
}

/** The folder or database contains no service. */
export class NoDataError extends Error {
  override readonly name = 'NoDataError';
  readonly code = 'no_data';
}

/** Another process has the data open. Nothing was changed. */
export class DataInUseError extends Error {
  override readonly name = 'DataInUseError';
  readonly code = 'data_in_use';
}
