/** No SQLite engine can be loaded. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code = 'no_sqlite';
  /** Whether the package is not installed; otherwise it does not run here. */
  readonly isMissing: boolean;

  constructor(cause: unknown) {
    const isMissing = /MODULE_NOT_FOUND$/.test((cause as NodeJS.ErrnoException).code ?? '');
    super(
      isMissing
        ? `Node.js ${process.versions.node} has no SQLite; install it with: npm install @photostructure/sqlite@1`
        : `the package @photostructure/sqlite does not run here: ${(cause as Error).message}`,
      { cause },
    );
    this.isMissing = isMissing;
  }
}
