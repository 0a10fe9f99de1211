export type Value = null | number | string | boolean | Uint8Array | readonly (string | number | null)[];
/** By name: `:name` in the text of a statement. */
export type Values = Readonly<Record<string, Value>>;

/**
 * In the SQL that all engines have. `:s.` stands before the names of tables, `:now` for the engine's time, and each word of
 * a Dialect, written `:word`, for what it says. Casts, `::bigint`, and `COLLATE "C"` are read by PostgreSQL alone.
 */
export interface Statement {
  text: string;
  values: Values;
}

/** What engines write differently. */
interface Words {
  /** Behind a query: locks its rows, without keeping others from referring to them; leaves out those that are locked. */
  lock: string;
  skipLocked: string;
  /** A condition, always true: the commit waits for the disk whatever the owner has set, and for locks only for a while. */
  durable: string;
  /** Waits for whoever is writing what is reported to a project; false if that takes too long. */
  reportersAreDone: string;
  /** Waits, in a transaction, for others with the same `key`. */
  alone: string;
  /** Why the store is held; null if it is not. */
  holdReason: string;
  greatest: string;
  /** Written `:in(name)`, behind a column: whether it is in a list, which is `?` here. */
  in: string;
  /** Written `:rows(name) AS r`: the rows of a list of texts, `?` here, each as `r.value`. */
  rows: string;
}

/** What engines store differently, or find along other indexes. */
interface Places {
  /** The oldest entry of the ledger that a page looks at before `:before`, in whatever project; 0 for all of them. */
  ledgerFloor: string;
  /** Of the batch `b`: how many of its messages have an unknown delivery. */
  unknownOfBatch: string;
  /** Whether the message `m` is of the batch with the number `:batch`. */
  isInBatch: string;
  /** Of the verification `v`: when its life began, and how long it lasts. */
  lifeBegan: string;
  life: string;
  /**
   * Behind `messages`: along the index of a project's, of those to a recipient, or to one written with a tag or in
   * capitals. Behind `batches` and `verifications`: of a project's.
   */
  byProject: string;
  byRecipient: string;
  bySpelling: string;
  byProjectOfBatch: string;
  byProjectOfVerification: string;
  /**
   * Numbers between which all messages are that were accepted since `:since` and before `:until`, either of which may be
   * null, as far as the engine knows without looking at each.
   */
  firstInTime: string;
  lastInTime: string;
  /** The projects `p` and their messages `m` to the recipient `:to`, in all its spellings. */
  ofRecipient: string;
  /** The column of `erasures` by which caps count. */
  erasedAt: string;
  /**
   * Messages that wait: lane, class and due_at. class: 0 a single one, 1 one of a list, which lets others go first,
   * 2 a doubt.
   */
  queueRows: string;
  /** Unfinished messages `m` that are leased. */
  leasedMessages: string;
  /** The first `:lookedAt` messages that wait. */
  waiting: string;
  /** Of the message `m`: its attempts; of the content `c`: an encrypted text. */
  attempts: string;
  encrypted: string;
  /** Of a row of `sign_ins`: the first 12 characters of its hash, in hex. */
  idOfSignIn: string;
  /** Whether a row of `sign_ins`, or of `dashboard`, was written here, not where a dump came from. */
  isAtHome: string;
  isInPlace: string;
  /** For the update of a row of `dashboard`: it was written here. */
  putInPlace: string;
}

export type Dialect = Words & Places;

/** A transaction of the domain. It waits for nothing but its statements, which an engine can run at once. */
export type Transaction<Result> = Generator<Statement, Result, unknown[]>;

export function* query<Row>(text: string, values: Values = {}): Transaction<Row[]> {
  return (yield { text, values }) as Row[];
}

/** One transaction with this key at a time. */
export function* alone(key: string): Transaction<void> {
  yield* query('SELECT :alone FROM (SELECT :key::text AS key) k', { key });
}

/** An engine for the parts of the store that are written once. */
export interface Sql {
  /** Milliseconds since it was connected, after the last outage. */
  connectedMs(): number;
  /** One statement, outside every transaction. */
  read<Row>(text: string, values?: Values): Promise<Row[]>;
  /** The row with a key of texts. Look-ups that arrive together may be one statement. */
  find<Row>(text: string, key: Readonly<Record<string, string>>): Promise<Row | undefined>;
  /** One statement, committed when it resolves. */
  write<Row>(text: string, values?: Values): Promise<Row[]>;
  /**
   * Some statements and a last one, which sees the rows of those before it by their names, `name (column, ...)`, but not
   * what else they have changed. Committed together, in one statement where others may wait for its locks. Made again if
   * its commit may be lost, or if others have just written a row with the same key: it must then find that it is there.
   */
  together<Row>(
    first: readonly (readonly [name: string, text: string])[],
    last: string,
    values: Values,
  ): Promise<Row[]>;
  /**
   * Committed when it resolves. Each attempt begins a new transaction. It locks no row that a send locks: it may be
   * held for as long as this process is paused.
   */
  transact<Result>(begin: () => Transaction<Result>): Promise<Result>;
  /** The same; an engine with files of its own overwrites what it deletes. */
  erase<Result>(begin: () => Transaction<Result>): Promise<Result>;
}

/** The text in the words of a dialect, with `parameterOf` in place of each name, `now` included. */
export function written(text: string, dialect: Dialect, parameterOf: (name: string) => string): string {
  const fill = (part: string): string =>
    part.replace(/(?<!:):([a-zA-Z]\w*)(?!\.)(?:\((\w+)\))?/g, (found, name: string, list?: string) => {
      if ((name === 'in' || name === 'rows') && list !== undefined)
        return dialect[name].replace('?', () => parameterOf(list));
      if (name in dialect) return fill(dialect[name as keyof Dialect]) + found.slice(name.length + 1);
      return parameterOf(name) + found.slice(name.length + 1);
    });
  return fill(text);
}
