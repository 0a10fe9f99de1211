import { isMoved, type Removal } from '../../../bulk/job/counts.js';
import { readJobId } from '../../../bulk/job/keys.js';
import type { Context } from '../../../context.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { grouped } from '../../../text/wording.js';
import { reportCommand } from '../next-command.js';

/** Rows of a report that jobs other than the one that wants them now have taken. */
export class MovedRows {
  readonly #taker: string;
  readonly #known: readonly string[];
  readonly #exists: boolean;
  readonly #jobs = new Set<string>();
  count = 0;

  /** The id of the job that wants them, or the name of all its runs, and the jobs of this machine. */
  constructor(taker: string, known: readonly string[]) {
    this.#taker = readJobId(taker).base;
    this.#known = known;
    this.#exists = known.includes(taker);
  }

  add(removal: Removal | undefined): void {
    if (!isMoved(removal) || readJobId(removal.to).base === this.#taker) return;
    // Earlier releases did not record the job: a resumed one has taken them itself.
    if (removal.to === '' && this.#exists) return;
    this.count += 1;
    if (removal.to !== '') this.#jobs.add(removal.to);
  }

  /** Exit 11; `id` is the job of the report. */
  refusal(context: Pick<Context, 'config'>, id: string): CliError {
    const jobs = [...this.#jobs];
    const who = jobs.length === 0 ? 'another job' : `the job ${jobs.join(' or ')}`;
    const job = jobs.find((each) => this.#known.includes(each));
    const report =
      job === undefined ? 'Its record is gone.' : `To see what they got: ${reportCommand(context, job)}`;
    return new CliError('rows_moved', exits.refused, `${who} took ${rowsText(this.count)} from ${id}`, {
      hint: `Nothing was sent this time. --again sends to them once more, even if they have the message. ${report}`,
      details: { job: id, moved_to: jobs, rows: this.count },
    });
  }
}

export const rowsText = (count: number) => `${grouped(count)} of these rows`;
