import { readJobId } from '../../bulk/job/keys.js';
import { isMoved, type Removal } from '../../bulk/job/request-states.js';
import type { PrintedCommand } from '../../config/printed-command.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { grouped } from '../../wording.js';

/** Rows of a report that other jobs took than the one which wants them now. */
export class MovedRows {
  readonly #taker: string;
  readonly #exists: boolean;
  readonly #jobs = new Set<string>();
  count = 0;

  /** The id of the job that wants them, or the name of all its runs, and whether there is one already. */
  constructor(taker: string, exists: boolean) {
    this.#taker = readJobId(taker).base;
    this.#exists = exists;
  }

  add(removal: Removal | undefined): void {
    if (!isMoved(removal) || readJobId(removal.to).base === this.#taker) return;
    // Earlier releases did not name the job: one that goes on has taken them itself.
    if (removal.to === '' && this.#exists) return;
    this.count += 1;
    if (removal.to !== '') this.#jobs.add(removal.to);
  }

  /** Exit 11; `id` is the job of the report. */
  refusal(context: Pick<Context, 'config'>, id: string): CliError {
    const jobs = [...this.#jobs];
    const [job = null] = jobs;
    const who = job === null ? 'another job' : `the job ${jobs.join(' or ')}`;
    const report = job === null ? '' : `Use its own report (${reportCommand(context, job)}), or add`;
    return new CliError('rows_moved', exits.refused, `${who} took ${rowsText(this.count)} from ${id}`, {
      hint: `Nothing was sent now. ${report || 'Add'} --again to send to them anyway.`,
      details: { job: id, moved_to: jobs, rows: this.count },
    });
  }
}

/** The command that writes a new report of a job; a list may be called as its job. */
export const reportCommand = ({ config }: Pick<Context, 'config'>, id: string): PrintedCommand =>
  config.commandLine(['jobs', 'report', id], { '--report': `${id}-report.csv` });

export const rowsText = (count: number) => `${grouped(count)} of these rows`;
