type Value = null | number | bigint | string | Uint8Array;
export type Bindings = [Readonly<Record<string, Value>>] | Value[];

/** The part of an SQLite connection that is used here. */
export interface Database {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Statement {
  run(...bindings: Bindings): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...bindings: Bindings): unknown;
  all(...bindings: Bindings): unknown[];
  iterate(...bindings: Bindings): Iterable<unknown>;
  setReturnArrays(returnArrays: boolean): void;
}
