import type { Bindings, Database, Statement } from './database.js';

/** A connection that prepares each statement when it is first run: most processes run only a few of them. */
export function withLateStatements(database: Database): Database {
  return {
    get isTransaction() {
      return database.isTransaction;
    },
    exec: (sql) => database.exec(sql),
    prepare: (sql) => new LateStatement(database, sql),
    close: () => database.close(),
  };
}

class LateStatement implements Statement {
  readonly #database: Database;
  readonly #sql: string;
  #returnArrays = false;
  #prepared: Statement | null = null;

  constructor(database: Database, sql: string) {
    this.#database = database;
    this.#sql = sql;
  }

  run(...bindings: Bindings) {
    return this.#statement().run(...bindings);
  }

  get(...bindings: Bindings) {
    return this.#statement().get(...bindings);
  }

  all(...bindings: Bindings) {
    return this.#statement().all(...bindings);
  }

  iterate(...bindings: Bindings) {
    return this.#statement().iterate(...bindings);
  }

  setReturnArrays(returnArrays: boolean) {
    this.#returnArrays = returnArrays;
    this.#prepared?.setReturnArrays(returnArrays);
  }

  #statement(): Statement {
    if (this.#prepared === null) {
      this.#prepared = this.#database.prepare(this.#sql);
      if (this.#returnArrays) this.#prepared.setReturnArrays(true);
    }
    return this.#prepared;
  }
}
