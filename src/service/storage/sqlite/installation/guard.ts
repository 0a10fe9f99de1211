import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DataError } from '../../../errors/data-error.js';
import { ServiceError } from '../../../errors/service-error.js';
import { largeTurn } from '../../../event-loop.js';
import { isBusy } from '../database/busy.js';
import type { Database } from '../database/database.js';
import { Checkpoints } from './checkpoint.js';
import type { DataFiles } from './folder.js';
import { readIdentity } from './identity.js';
import { isWalCutOff } from './wal.js';

/** Milliseconds between checks of a running service's files. */
export const lookEvery = 400;

interface Seen {
  path: string;
  device: number;
  inode: number;
  size: number;
}

/**
 * Watches that the files opened by a service are still complete and at their paths. If not, nothing is read or
 * written any more: writes to a file that nobody can find would be answered as stored.
 */
export class DataGuard {
  /** Resolves when a file is gone, replaced or truncated. */
  readonly lost: Promise<DataError>;
  readonly #files: DataFiles;
  readonly #id: string;
  readonly #checkpoints: Checkpoints;
  readonly #seen: Seen[];
  /** Those that commits are written to. */
  readonly #written: Seen[];
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;
  readonly #report: (error: unknown) => void;
  #isReported = false;
  #error: DataError | null = null;
  #tell: (error: DataError) => void = () => {};

  constructor(files: DataFiles, id: string, store: Database, report: (error: unknown) => void) {
    this.#files = files;
    this.#id = id;
    this.#checkpoints = new Checkpoints(store);
    this.#report = report;
    this.lost = new Promise((resolve) => {
      this.#tell = resolve;
    });
    this.#written = [files.store, `${files.store}-wal`].map(look);
    this.#seen = [...this.#written, ...[files.carrier, `${files.carrier}-wal`, files.secret].map(look)];
    this.#timer = setInterval(() => void this.#lookInTurn(), lookEvery).unref();
  }

  /** Throws if a problem was found. */
  check(): void {
    if (this.#error !== null) throw unavailable();
  }

  /** Called before and after a commit: throws if its file is no longer at its path, or incomplete. */
  verifyCommit(): void {
    for (const one of this.#written) this.#compare(one);
    this.check();
  }

  /** Checks all files. A file that cannot be opened for lack of memory or descriptors is not considered lost. */
  look(): void {
    try {
      for (const one of this.#seen) this.#compare(one);
      const identity = readIdentity(this.#files.identity);
      if (identity === null || identity === 'damaged' || identity.id !== this.#id)
        this.#lose(this.#files.identity, identity === null ? 'is gone' : 'was replaced');
      else if (this.#error === null) this.#checkpoints.run();
      this.#isReported = false;
    } catch (error) {
      if (isBusy(error)) return;
      if (!this.#isReported) this.#report(error);
      this.#isReported = true;
    }
  }

  /** A checkpoint writes the pages of many commits. */
  async #lookInTurn(): Promise<void> {
    await largeTurn();
    if (!this.#isStopped) this.look();
  }

  /** Called after every commit. */
  committed(rows: number): void {
    if (this.#checkpoints.wrote(rows)) void this.#lookInTurn();
  }

  /** Called before the store is closed. */
  async finish(): Promise<void> {
    this.#stop();
    try {
      if (this.#error === null) await this.#checkpoints.finish();
    } catch (error) {
      // Commits remain in the -wal.
      this.#report(error);
    }
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#isStopped = true;
  }

  #compare(before: Seen): void {
    const now = statSync(before.path, { throwIfNoEntry: false });
    if (now === undefined) this.#lose(before.path, 'is gone');
    else if (now.ino !== before.inode || now.dev !== before.device) this.#lose(before.path, 'was replaced');
    else if (now.size < before.size && isCutOff(before.path)) this.#lose(before.path, 'was cut off');
    else before.size = now.size;
  }

  #lose(path: string, what: string): void {
    if (this.#error !== null) return;
    this.#stop();
    this.#error = new DataError(
      `${basename(path)} ${what} while the service was running, in ${dirname(path)}; the service no longer answers`,
      { hint: 'Put the files back as they were, then start it again.' },
    );
    this.#tell(this.#error);
  }
}

function look(path: string): Seen {
  const { dev, ino, size } = statSync(path);
  return { path, device: dev, inode: ino, size };
}

/** Only a -wal ever becomes smaller. */
function isCutOff(path: string): boolean {
  return !path.endsWith('-wal') || isWalCutOff(path);
}

function unavailable(): ServiceError {
  return new ServiceError('unavailable', 'the data of the service has disappeared; nothing can be done');
}
