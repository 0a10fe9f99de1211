import { type QuietHours, spanAt } from '../../../quiet/quiet-hours.js';
import { hoursIn } from '../../shared/quiet.js';
import type { Database } from '../database/database.js';

/** Milliseconds for which a mark may wait for others after it has asked: `statement_timeout`. */
const longestMark = 5_000;

/** A project with quiet hours, as quiet_projects_1 in the schema returns it. */
export interface QuietRow {
  seq: number;
  settings: string;
}

interface QuietProject {
  seq: number;
  hours: QuietHours | null;
  /** As the database writes them. */
  written: string;
}

/**
 * Projects with quiet hours, as they were last read. This process computes the hours; the database compares them with its
 * own time and with the settings of the moment, and takes for quiet what no process speaks of.
 */
export class Quiet {
  readonly #database: Database;
  /** By the database's clock. */
  readonly #now: () => number;
  #known: QuietProject[] | null = null;
  #read = '';

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** Learns of the projects if nothing was read yet. */
  async ready(): Promise<void> {
    if (this.#known !== null) return;
    const [row] = await this.#database.query<{ quiet: QuietRow[] | null }>(
      'SELECT :s.quiet_projects_1() AS quiet',
    );
    this.learn(row?.quiet ?? null);
  }

  /** False if that was known before. */
  learn(rows: readonly QuietRow[] | null): boolean {
    const read = rows === null ? '' : JSON.stringify(rows);
    if (this.#known !== null && read === this.#read) return false;
    this.#read = read;
    this.#known = (rows ?? []).map(({ seq, settings }) => {
      const { quiet_hours: hours, quiet_zone: zone = '' } = JSON.parse(settings);
      return { seq, hours: hoursIn(settings), written: `${hours} ${zone}` };
    });
    return true;
  }

  /** Since and until when projects are not quiet, as JSON for quiet_now_1 in the schema; null if none has quiet hours. */
  openings(): string | null {
    if (this.#known === null || this.#known.length === 0) return null;
    const now = this.#now();
    return JSON.stringify(
      this.#known.flatMap(({ seq, hours, written }) => {
        // A later release may know what they mean.
        const span = hours === null ? always : spanAt(hours, now);
        const { since, until } = span;
        return span.isQuiet
          ? []
          : [
              {
                project: seq,
                hours: written,
                since: Math.ceil(since),
                until: Math.floor(until) - longestMark,
              },
            ];
      }),
    );
  }
}

const always = { isQuiet: false, since: 0, until: Number.MAX_SAFE_INTEGER };
