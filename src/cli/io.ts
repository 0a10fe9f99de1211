import type { NextStep, PrintedCommand } from './config/printed-command.js';
import type { Files } from './files/files.js';
import type { Printer } from './output/printer.js';
import type { View } from './output/view.js';
import type { Progress } from './terminal/progress.js';
import type { Questions } from './terminal/prompts.js';

/** Results, messages, progress, prompts and files of one command. */
export interface Io {
  /** Prints one result on standard output. */
  print<Row>(view: View<Row>, row: Row): Promise<void>;
  /** Prints a list. ndjson, csv and tsv print each row as it arrives, and stop when nobody reads. */
  printAll<Row>(view: View<Row>, rows: Iterable<Row> | AsyncIterable<Row>): Promise<void>;
  readonly printer: Printer;

  /**
   * A line on standard error, hidden by --quiet. `command`, to be copied, follows the text; other commands are in
   * backticks.
   */
  note(text: string, command?: PrintedCommand): void;
  /** A line on standard error that --quiet does not hide. */
  warn(text: string, command?: PrintedCommand): void;
  /** Marks a command without an end: from now on programs get each warning at once, as a line of JSON. */
  endless(): void;
  /** A line of JSON on standard error, for programs; --quiet does not hide it. */
  log(record: object): void;
  /** The last line of a command that exits with a code other than 0: message and hint of the error for programs. */
  conclude(text: string, next?: NextStep): void;
  /** Adds fields to the error object that a program gets if the command fails. */
  attach(details: Record<string, unknown>): void;
  /** Shows progress on a terminal if the work takes a while. */
  withProgress<Value>(text: string, work: () => Promise<Value>): Promise<Value>;
  /** Progress of long work on standard error. Stop it before the command ends. */
  progress(): Progress;

  /** Whether standard input and standard error are terminals. */
  readonly canPrompt: boolean;
  /** Whether standard input, output or error is a terminal. */
  readonly isAtTerminal: boolean;
  /** Of the terminal on standard error; 80 without one. */
  readonly columns: number;
  /** Throws CliError (exit 2) without a terminal. */
  prompts(): Promise<Questions>;

  readonly files: Files;

  /** Opens a file or an address in the desktop's browser; false if there is none. */
  openInBrowser(place: string): Promise<boolean>;

  /**
   * From now on a signal only aborts the context's `signal`. The command finishes what is in flight and returns, and
   * the process then dies by the signal: in any case `within` milliseconds (5 s) after a SIGTERM, or at a second
   * Ctrl-C, after `lastWords`. The returned function ends this. Without it a signal ends the command at once.
   * `onHangUp` is called for a SIGHUP that ends nothing, because there is no terminal.
   */
  holdSignals(held?: { lastWords?: () => void; within?: number; onHangUp?: () => void }): () => void;
}
